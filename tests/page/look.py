"""How long a run's page takes to open and to scroll, and a picture of it.

look.py PAGE [PICTURE.png [WIDTH [HEIGHT [FRAGMENT]]]]; a PICTURE that ends in .pdf is what is
printed."""

import pathlib
import sys
import tempfile

from browser import Browser

SCROLL = """(async () => {
  const scroller = document.querySelector('.scroller');
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const begin = scroller.scrollTop;
  const times = [];
  for (let i = 0; i < 60; ++i) {
    scroller.scrollTop = (i * 37 % 60) / 60 * scroller.scrollHeight;
    const before = performance.now();
    await frame();
    await frame();
    times.push(performance.now() - before);
  }
  scroller.scrollTop = begin;
  times.sort((a, b) => a - b);
  return [times[30], times[59]];
})()"""


def main():
    page = pathlib.Path(sys.argv[1]).resolve()
    picture = sys.argv[2] if len(sys.argv) > 2 else None
    width, height = (int(one) for one in (sys.argv[3:5] + ["1280", "800"])[:2])
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        browser = Browser(home, width, height)
        seconds = browser.open(page, sys.argv[5] if len(sys.argv) > 5 else "")
        usual, longest = browser.run(SCROLL)
        browser.settle()
        print(f"{page.stat().st_size / 1e6:.1f} MB, opens in {seconds:.2f} s; two frames of "
              f"scrolling take {usual:.0f} ms, at most {longest:.0f} ms")
        if picture and picture.endswith(".pdf"):
            browser.paper(picture)
        elif picture:
            browser.picture(picture)
        for complaint in browser.complaints:
            print(complaint)
        browser.close()


if __name__ == "__main__":
    main()
