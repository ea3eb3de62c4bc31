"""Sphinx extension: a wall of machines that move, and studios in place.

    ```{machine-wall}
    ```

shows every mechanism of the library: a picture, its signature motion while the pointer is on it, and its
studio when it is clicked.

    ```{machine} five_bar
    ```

shows one studio in the page. The files are made once for each build, in the folder `_machines` of the site;
`wall_machines` of conf.py names the mechanisms, none: all of the library.
"""

from __future__ import annotations

import contextlib
import html
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

FOLDER = "_machines"
SIZE = (360, 270)  # of pictures [pixels]
LATER = 0.35  # share of a motion at which its picture is taken


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_config_value("wall_machines", [], "env")
    app.add_directive("machine-wall", MachineWall)
    app.add_directive("machine", MachineInPage)
    app.add_css_file("wall.css")
    app.add_js_file("wall.js")
    app.connect("builder-inited", make_pages)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def machines(config: Any) -> dict[str, str]:
    """Names of the mechanisms on the wall, with what they do."""
    import sarrus as sr

    every = sr.showcase.names()
    return {name: every[name] for name in (config.wall_machines or every)}


def make_pages(app: Sphinx) -> None:
    """A picture, a page that plays and a studio of each mechanism."""
    if app.builder.format != "html":
        return
    folder = Path(app.outdir) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor() as pool:
        list(pool.map(make_machine, machines(app.config), [folder] * len(machines(app.config))))


def make_machine(name: str, folder: Path) -> None:
    """Files of one mechanism. What a studio cannot hold is played instead."""
    import sarrus as sr

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        run = sr.showcase.run(name)
        film = run.export(folder / f"{name}-film.html", title=title(name))
        q = run.at(run.t[0] + LATER * (run.t[-1] - run.t[0])).q
        sr.viz.picture(run.system, folder / f"{name}.png", q=q, size=SIZE)
        studio = folder / f"{name}.html"
        studio.write_bytes(film.read_bytes())
        with contextlib.suppress(sr.InputError):
            run.studio(studio, title=title(name), caption=sr.library.names()[name])


def title(name: str) -> str:
    """The name of a mechanism in words."""
    return name.replace("_", " ").capitalize()


class MachineWall(Directive):
    """The wall."""

    def run(self) -> list[nodes.Node]:
        """The pictures as links, which wall.js brings to life."""
        config = self.state.document.settings.env.config
        tiles = "".join(tile(name, words) for name, words in machines(config).items())
        return [nodes.raw("", f'<div class="machine-wall">{tiles}</div>', format="html")]


def tile(name: str, words: str) -> str:
    """One machine of the wall."""
    where, said = f"{FOLDER}/{name}", html.escape(f"{title(name)} {words}")
    wide, high = SIZE
    picture = f'<img src="{where}.png" alt="{said}" loading="lazy" width="{wide}" height="{high}">'
    return (
        f'<a class="machine" href="{where}.html" data-film="{where}-film.html">'
        f'<span class="picture">{picture}</span><b>{title(name)}</b> <span>{html.escape(words)}</span></a>'
    )


class MachineInPage(Directive):
    """One machine to take with the hand, bare, and a link to its studio."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """A frame with the studio."""
        import sarrus as sr

        (name,) = self.arguments
        app = self.state.document.settings.env.app
        if app.builder.format == "html":
            sr.showcase.mechanism(name).studio(
                Path(app.outdir) / FOLDER / f"{name}-hand.html", title=title(name)
            )
        page = f"{FOLDER}/{name}-hand.html"
        frame = f'<iframe class="machine-studio" data-src="{page}" title="{title(name)}"></iframe>'
        alone = f'<a class="machine-alone" href="{page}">its studio: motors, forces, branches</a>'
        return [nodes.raw("", frame + alone, format="html")]
