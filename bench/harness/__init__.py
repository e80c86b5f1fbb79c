"""The measurements; `main` is the entry point."""
