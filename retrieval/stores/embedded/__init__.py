"""The parts of the in-process store: the engine in a process of its own, its folder, and how it is rewritten."""
