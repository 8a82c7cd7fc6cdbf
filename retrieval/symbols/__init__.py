"""The symbol language: recognisers, normal forms, comparison, pseudonyms."""
