"""Prompts of a wanted length, without any tokenizer."""

import numpy as np

_TEXT = """
    about after again air all along also always an and another any are around as asked at away back be because been before below
    between big both boy but by called came can children come could day did different do does down each end even every feet few
    find first food for form found from get give go going good great had has have help her here him his home house how if
    important in into is it its just keep know land large last left like line little long look made make man many may me men
    might more most much must my name never new next no not now number of off often old on once one only or other our out over
    own part people place put read right said same saw say school see set she should show side small so some something sound
    still such take tell than that the their them then there these they things think this those thought three through time to
    together too two under until up us use used very want was water way we well went were what when where which while who why
    will with without word words work world would write years your
"""
_WORDS = tuple(_TEXT.split())
"""Common English words, each of them one token, with the space before it, in the vocabularies of today's models."""


def prompt(tokens: int, rng: np.random.Generator) -> str:
    """So many words in random order: about as many tokens for whatever model reads it, with no beginning that another prompt shares."""
    return " ".join(_WORDS[i] for i in rng.integers(len(_WORDS), size=tokens))
