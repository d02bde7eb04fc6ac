"""One file per figure: from a section's runs to charts. A figure that would say nothing is none."""
