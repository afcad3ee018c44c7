"""Evaluation reports: scores, errors and confidences of pipelines, by characters, side by side on one page."""
