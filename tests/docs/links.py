"""links.py SITE: every link of the site's pages leads to a file of it, and to a place in that file."""

import html.parser
import pathlib
import sys
import urllib.parse

FORGOTTEN = "nested-classes"  # doxygen 1.9 offers this place where all such classes are private


class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.places = set(), set()

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.add(value)
            elif name in ("id", "name") and value:
                self.places.add(value)


def read(path):
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader


def dead(site):
    pages = {path: read(path) for path in site.glob("*.html")}
    for path, page in pages.items():
        for link in sorted(page.links):
            target = urllib.parse.urlsplit(link)
            if target.scheme or target.fragment == FORGOTTEN:
                continue
            to = site / urllib.parse.unquote(target.path) if target.path else path
            if not to.exists():
                yield f"{path.name}: no file {link}"
            elif to in pages and target.fragment and urllib.parse.unquote(target.fragment) not in pages[to].places:
                yield f"{path.name}: no place {link}"
    if not pages:
        yield "no pages"


def main():
    said = list(dead(pathlib.Path(sys.argv[1])))
    print("\n".join(said[:50]))
    print(f"{len(said)} dead links")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
