"""The measurements; `main` is where they begin."""
