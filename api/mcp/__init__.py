"""Our tools and the plan for other programs: plain HTTP and the Model Context Protocol."""
