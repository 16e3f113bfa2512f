import re

import pytest
from django.urls import reverse

from leaderboard.stats import METHODOLOGY

pytestmark = pytest.mark.django_db


def test_the_page_shows_the_document_with_its_headings_and_tables(client):
    page = client.get(reverse("methodology")).content.decode()
    assert "<h1>How the numbers are made</h1>" in page
    assert "<h2>Bootstrapped Elo</h2>" in page
    assert "<table" in page
    linked = re.findall(r'<li><a href="#([\w-]+)">', page)
    assert "bootstrapped-elo" in linked
    assert linked == re.findall(r'<section class="prose section" id="([\w-]+)">', page)
    assert f"Methodology version: {METHODOLOGY}." in page


def test_lines_of_the_document_flow_into_paragraphs(client):
    assert "<br" not in client.get(reverse("methodology")).content.decode()


def test_every_page_links_to_it(client):
    assert f'href="{reverse("methodology")}"' in client.get(reverse("home")).content.decode()
