"""How raters agree: correlation, kappa, alpha and Fleiss, every pair entered in both orientations."""
