"""Ratings of the simulated judge, asked as a protocol on a Likert scale asks it."""

from judging.endpoints.client import Request
from judging.endpoints.simulated import SimulatedClient, Simulation
from judging.protocols.answer_scales import answer_scale
from judging.protocols.conversation import Question
from judging.protocols.protocol import About
from judging.protocols.replies import Place

REQUEST = Request("simulated", [], 1.0)


def simulated_rating(simulation: Simulation, first: str, second: str, points: int, seed: int) -> int:
    question = Question("rate", [], About.PAIR, scale=answer_scale("likert", points), place=Place.FIRST_LINE)
    reply = SimulatedClient(simulation, first, second, seed, question).ask(REQUEST)
    return int(reply.text.split()[0])
