"""What pipelines get right and wrong, measured by characters, side by side, and shown on one page."""
