"""Every protocol there is, by name."""

from judging.protocol import Catalogue
from judging.protocols.likert import LIKERT

PROTOCOLS = Catalogue(LIKERT)
