"""Parts of pictures as SVG, which take their colours from a style sheet."""

from html import escape


def shape(tag: str, style: str, what: str = "", **attributes: float | str) -> str:
    """`style`: classes; `what` is shown where a pointer rests on it. Names of attributes have _ for -."""
    return f"<{tag}{_given(style, attributes)}" + (f"><title>{escape(what)}</title></{tag}>" if what else "/>")


def text(style: str, x: float, y: float, content: object, **attributes: float | str) -> str:
    return f"<text{_given(style, {'x': x, 'y': y, **attributes})}>{escape(str(content))}</text>"


def _given(style: str, attributes: dict[str, float | str]) -> str:
    if style:
        attributes = {"class": style, **attributes}
    told = {name.replace("_", "-"): round(value, 1) if isinstance(value, float) else value
            for name, value in attributes.items()}
    return "".join(f' {name}="{value}"' for name, value in told.items())
