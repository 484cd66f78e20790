"""Adaptive resonance theory: online clusterers that never forget what they founded.

`FuzzyART` clusters, `FuzzySMART` clusters on two levels, `FuzzyARTMAP` classifies, `Quantizer`
finds prototypes for clusters that somebody else decides on. All are scikit-learn estimators
(which needs scikit-learn) and learn one sample at a time as well as many.
"""
