"""What a reader of a run's page sees and does, in Debian's Chromium: browser_test.py MAKE."""

import io
import pathlib
import subprocess
import sys
import unittest

import samples
from reader import Reader

MAKE = pathlib.Path(sys.argv.pop(1)).resolve()
SIZE_MAX = 20_000_000  # of a page of 100,000 records


class Pages:
    """Pages of samples, each made once."""

    def __init__(self, folder):
        self.folder = folder
        self.made = {}

    def lines(self, name, text):
        """A file with a run's lines."""
        path = self.folder / f"{name}.jsonl"
        path.write_text(text, encoding="utf-8")
        return path

    def sample(self, name, seed="8"):
        """The lines of a sample."""
        text = io.StringIO()
        samples.SAMPLES[name](seed).write(text)
        return self.lines(f"{name}-{seed}", text.getvalue())

    def of(self, *files):
        """The page of one run or of two."""
        page = self.folder / ("-".join(path.stem for path in files) + ".html")
        if page not in self.made:
            with open(page, "wb") as out:
                subprocess.run([MAKE, *files], stdout=out, check=True)
            self.made[page] = True
        return page


class PageTest(Reader):
    """Reads pages of samples."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.pages = Pages(cls.folder)

    def open(self, *names, fragment=""):
        """Opens the page of samples."""
        files = [self.pages.sample(*name.split(":")) for name in names]
        self.browser.open(self.pages.of(*files), fragment)
        return self.browser

    def number(self, name, words):
        """The number of the first record of a sample with these members."""
        run = samples.SAMPLES[name]("8")
        run.write(io.StringIO())
        return next(record["n"] for record in run.records
                    if all(record.get(key) == value for key, value in words.items()))


class Opening(PageTest):
    """What one sees without doing anything."""

    def test_a_run_that_passed_opens_at_its_beginning_and_explains_its_signs(self):
        page = self.open("handshake")

        self.assertIn("✓ passed", page.text("#head"))
        self.assertIn("seed 8 · 2 hosts", page.text("#head"))
        self.assertTrue(page.run("document.getElementById('moment').hidden"))
        self.assertIsNotNone(self.place(0))
        self.assertIn("How to read this", self.panel())

    def test_a_failure_opens_at_its_moment_with_its_sentence_on_top(self):
        page = self.open("hang")

        self.assertIn("✖ hang", page.text("#head"))
        self.assertIn("What went wrong: server/rping[12] waits for ever in rdma_destroy_id: it "
                      "fetched RDMA_CM_EVENT_DISCONNECTED and never acknowledged it",
                      page.text("#moment"))
        place = self.place(self.number("hang", {"is": "wait", "name": "rdma_destroy_id"}))
        self.assertTrue(0 < place["x"] < 1280 and 0 < place["y"] < 800, place)
        self.assertIn("for the program to acknowledge", self.panel())

    def test_what_began_above_and_lasts_is_drawn(self):
        self.browser.size(1280, 480)
        self.addCleanup(self.browser.size, 1280, 800)
        self.open("hang")
        lasts = self.number("hang", {"is": "state", "name": "CONNECTED"})

        self.assertIsNotNone(self.place(lasts))

    def test_waits_of_system_calls_are_hidden_until_wanted(self):
        run, client, _ = samples.two_sides(seed="8")
        client.wait(0, 200, "time to pass")
        client.wait(300, 300 * samples.MICRO)
        text = io.StringIO()
        run.write(text)

        page = self.browser
        page.open(self.pages.of(self.pages.lines("short", text.getvalue())))
        hidden = page.run("anyrdma.shown()")
        page.click(".is-short")

        self.assertEqual((hidden, page.run("anyrdma.shown()")), (1, 2))

    def test_a_recording_that_tells_no_acknowledgements_blames_nobody(self):
        run = samples.handshake("8")
        for record in run.records:
            record.pop("acknowledged", None)
        text = io.StringIO()
        run.write(text)

        self.browser.open(self.pages.of(self.pages.lines("untold", text.getvalue())))
        self.browser.key("t")

        self.assertNotIn("never acknowledged", self.browser.text("#table"))

    def test_a_link_opens_at_its_record(self):
        number = self.number("losses", {"is": "fault"})

        self.open("losses", fragment=f"#n={number}")

        self.assertIn("Fault of the plan lose REQ of client twice", self.panel())
        self.assertIsNotNone(self.place(number))

    def test_a_failure_without_a_moment_shows_the_first_thing_that_looks_wrong(self):
        run = samples.rejected("8")
        run.header["moments"] = []
        text = io.StringIO()
        run.write(text)

        self.browser.open(self.pages.of(self.pages.lines("no-moment", text.getvalue())))

        self.assertIn("The first thing that looks wrong: server/rping[12]/main calls "
                      "rdma_create_qp: -1 ENOMEM", self.browser.text("#moment"))

    def test_texts_of_a_run_are_texts_whatever_they_look_like(self):
        evil = "</script><img src=x onerror='console.error(1)'>"
        run, client, _ = samples.two_sides(seed=evil, verdict="failed", command=evil)
        record = run.add(0, client.thread, "note", evil, fields={evil: evil}, stream="out")
        run.moment(record, evil)
        text = io.StringIO()
        run.write(text)

        self.browser.open(self.pages.of(self.pages.lines("evil", text.getvalue())))

        self.assertIn(evil, self.browser.text("#moment"))
        self.assertIn(evil, self.panel())

    def test_what_the_page_does_not_know_is_shown_all_the_same(self):
        lines = ('{"anyrdma":1}\n{"n":0,"t":-5,"lane":7,"is":"eclipse","name":"moon",'
                 '"phase":3}\n{"n":4,"t":9,"lane":8,"is":"message","name":"REQ","to":7}\n')

        self.browser.open(self.pages.of(self.pages.lines("unknown", lines)), "#n=0")

        self.assertIn("eclipse moon", self.panel())
        self.assertIn("phase 3", self.panel())
        self.assertEqual(self.lanes(), ["lane 7", "lane 8"])

    def test_a_run_without_records_opens(self):
        self.browser.open(self.pages.of(self.pages.lines("empty", '{"anyrdma":1}\n')))

        self.assertIn("0 records", self.browser.text("#head"))

    def test_a_hundred_thousand_records_open(self):
        page = self.pages.of(self.pages.sample("large"))

        seconds = self.browser.open(page)

        print(f"{page.stat().st_size / 1e6:.1f} MB, drawn after {seconds:.2f} s")
        self.assertLess(page.stat().st_size, SIZE_MAX)
        self.assertGreater(self.browser.run("anyrdma.shown()"), 99_000)
        self.assertIn("waits for ever for a completion of queue pair 0x14", self.panel())


class Looking(PageTest):
    """What one finds by clicking, searching, filtering."""

    def test_a_click_on_a_message_tells_everything_of_it_and_makes_a_link(self):
        page = self.open("losses")
        number = self.number("losses", {"is": "message", "name": "REQ"})
        page.run(f"location.hash = '#n={number + 1}'")
        page.settle()

        page.click_at(*self.place(number).values())

        self.assertIn("client sends REQ to server; lost: lose REQ of client twice", self.panel())
        self.assertIn("arrives never", self.panel())
        self.assertIn("service TCP:7174", self.panel())
        self.assertIn("struck by “lose REQ of client twice”", self.panel())
        self.assertEqual(page.run("location.hash"), f"#n={number}")

    def test_a_record_of_programs_shows_the_command_that_opens_gdb_there(self):
        number = self.number("losses", {"is": "fault"})
        self.open("losses", fragment=f"#n={number}")

        self.assertIn(f"--gdb --goto 'record {number}'", self.panel())

    def test_a_record_of_a_run_that_gdb_cannot_debug_shows_no_command(self):
        for member, value in (("clock", "real"), ("program", "Suite.Test"), ("command", "")):
            run = samples.handshake("8")
            run.header[member] = value
            text = io.StringIO()
            run.write(text)

            page = self.pages.of(self.pages.lines(f"no-{member}", text.getvalue()))
            self.browser.open(page, "#n=1")

            self.assertIn("#1", self.panel())
            self.assertNotIn("--gdb", self.panel())

    def test_an_event_that_nobody_acknowledged_says_so(self):
        page = self.open("hang")
        number = self.number("hang", {"is": "event", "name": "RDMA_CM_EVENT_DISCONNECTED"})

        page.click_at(*self.place(number).values())

        self.assertIn("fetched at once, never acknowledged", self.panel())
        self.assertIn("acknowledged never", self.panel())

    def test_search_counts_and_goes_from_match_to_match(self):
        page = self.open("losses")

        page.key("/")
        page.type("REQ again")
        self.assertEqual(page.text("#search-count"), "2 found")
        page.key("Enter")
        page.key("Enter")

        self.assertEqual(page.text("#search-count"), "2 of 2")
        self.assertIn("sends REQ again, as #21 to server; it arrives after 2 µs", self.panel())

    def test_search_says_when_there_is_nothing(self):
        page = self.open("losses")

        page.key("/")
        page.type("an elephant")

        self.assertEqual(page.text("#search-count"), "nothing found")

    def test_a_folded_host_is_one_lane_and_unfolds(self):
        page = self.open("handshake")
        before = self.lanes()

        page.click("[aria-label='Fold client']")
        folded = self.lanes()
        page.click("[aria-label='Fold client']")

        self.assertEqual(before, ["main", "id 1", "qp 0x12", "wire", "wire", "qp 0x12", "id 1",
                                  "main"])
        self.assertEqual(folded, before[4:])
        self.assertEqual(self.lanes(), before)

    def test_a_hidden_lane_takes_its_records_with_it_until_all_are_wanted(self):
        page = self.open("handshake")
        before = page.run("anyrdma.shown()")

        page.click("[aria-label='Hide client/rping[12]/qp 0x12']")
        hidden = page.run("anyrdma.shown()")
        lanes = len(self.lanes())
        page.click("#lanes-all")

        self.assertEqual(lanes, 7)
        self.assertEqual(before - hidden, 6)  # four states, two completions
        self.assertEqual(page.run("anyrdma.shown()"), before)

    def test_many_lanes_begin_folded_and_have_names_wherever_one_scrolls(self):
        run, client, _ = samples.two_sides(seed="8")
        for i in range(200):
            client.state(i, "IDLE", run.lane("id", f"client/rping[12]#{i + 2}", client.process))
        text = io.StringIO()
        run.write(text)
        page = self.browser
        page.open(self.pages.of(self.pages.lines("lanes", text.getvalue())))
        folded = self.lanes()

        page.click("#lanes-all")
        left = self.lanes()
        page.run("document.querySelector('.scroller').scrollLeft = 1e6")
        page.settle()

        self.assertEqual(folded, ["rping[12]"])
        self.assertIn("id 2", left)
        self.assertNotIn("id 201", left)
        self.assertIn("id 201", self.lanes())

    def test_kinds_are_left_out_and_come_back_when_a_record_is_wanted(self):
        page = self.open("hang")
        call = self.number("hang", {"is": "call", "name": "rdma_connect"})

        page.click(".is-call")
        page.click("#as-table")
        without = page.text("#table")
        page.run(f"location.hash = '#n={call}'")
        page.settle()

        self.assertNotIn("rdma_connect", without)
        self.assertIn("rdma_connect", page.text("#table"))

    def test_why_a_run_fails_is_shown_if_the_run_has_an_explanation(self):
        page = self.open("explained")
        page.click("#as-why")

        why = page.text("#why")
        for words in ("server/rping hangs <b>", "The fault maybe at 1s: cut client eth0",
                      "It is needed: without it the run passes.", "The run fails if it happens from",
                      "with strict memory the run passes", "Choice 80 of the devices", "The critical pair",
                      "Another pair",
                      "a packet from client arrives at server: DREQ", "called at free_cb+0x1f (rping) rping.c:81",
                      "Its step ends here:", "rping.c:82", "1 of 8", "8 of 8", "the name differs: 3:1 and 4:1",
                      "142 runs"):
            self.assertIn(words, why)
        self.assertTrue(page.run("document.getElementById('views').hidden"))
        self.assertNotIn("rping.c:1204", why)  # the stack is folded
        page.click("#why .step summary")
        self.assertIn("rping.c:1204", page.text("#why"))

        page.key("t")
        self.assertTrue(page.run("document.getElementById('why').hidden"))
        self.assertFalse(page.run("document.getElementById('table').hidden"))
        page.key("w")
        self.assertTrue(page.run("document.getElementById('table').hidden"))
        page.key("w")
        self.assertFalse(page.run("document.getElementById('views').hidden"))

    def test_a_time_of_an_explanation_leads_to_its_record(self):
        page = self.open("explained", "hang")
        page.key("w")

        page.run("document.querySelector('#why .pair').parentNode.querySelector('button').click()")

        self.assertTrue(page.run("document.getElementById('why').hidden"))
        self.assertIn("rdma_disconnect", self.panel())

    def test_a_run_without_an_explanation_has_no_tab_for_it(self):
        page = self.open("hang")

        page.key("w")

        self.assertTrue(page.run("document.getElementById('as-why').hidden"))
        self.assertTrue(page.run("document.getElementById('why').hidden"))

    def test_idle_time_is_folded_and_unfolds(self):
        page = self.open("losses", fragment="#n=23")
        page.click("#scale")
        folded = self.place(24)["y"] - self.place(23)["y"]  # 4.3 s

        page.click("#idle")

        self.assertTrue(0 < folded < 200, folded)
        far = self.place(24)  # nowhere, if not even a part of it is drawn
        self.assertTrue(far is None or far["y"] - self.place(23)["y"] > 400, far)

    def test_zoom_shows_the_whole_run_at_once(self):
        page = self.open("losses")

        page.key("0")

        self.assertLessEqual(page.run("document.querySelector('.spacer').offsetHeight"),
                             page.run("document.querySelector('.scroller').clientHeight"))

    def test_following_a_message_finds_its_repetitions_and_what_struck_it(self):
        page = self.open("losses", fragment="#n=21")

        page.key("f")
        self.assertIn("Following this REQ: 4 records", page.text("#following"))
        page.click("#only")

        self.assertEqual(page.run("anyrdma.shown()"), 4)
        page.key("Escape")
        self.assertGreater(page.run("anyrdma.shown()"), 40)

    def test_following_an_id_leaves_what_is_about_it(self):
        page = self.open("hang", fragment="#n=40")
        page.run("""[...document.querySelectorAll('.follow button')]
            .find(one => one.textContent === 'id client/rping[12]/id 1').click()""")
        page.click("#only")
        page.click("#as-table")

        table = page.text("#table")
        self.assertIn("client sends REQ", table)
        self.assertNotIn("server/rping[12]/id 1", table)

    def test_keys_go_from_record_to_record_and_along_a_lane(self):
        page = self.open("handshake", fragment="#n=10")

        page.key("ArrowDown")
        below = page.run("location.hash")
        page.key("ArrowUp")
        page.key("ArrowRight")

        self.assertEqual(below, "#n=11")
        self.assertIn("rdma_resolve_route", self.panel())

    def test_the_table_has_the_run_in_sentences_and_chooses_by_a_click(self):
        page = self.open("hang")

        page.key("t")
        page.click("#table tr.chosen")
        table = " ".join(page.text("#table").split())

        self.assertIn("server/rping[12]/main waits for ever in rdma_destroy_id for the program to "
                      "acknowledge RDMA_CM_EVENT_DISCONNECTED", table)
        self.assertIn("! server/rping[12]/id 1 gets RDMA_CM_EVENT_DISCONNECTED; fetched at once, "
                      "never acknowledged", table)
        self.assertIn("Wait rdma_destroy_id", self.panel())


class Comparing(PageTest):
    """Two runs beside each other."""

    def test_the_first_difference_is_said_and_shown_in_both(self):
        page = self.open("handshake", "rejected")
        number = self.number("rejected", {"is": "call", "result": "-1 ENOMEM"})

        said = " ".join(page.text("#moment").split())
        left, right = self.place(number, 1), self.place(number, 2)

        self.assertIn("First difference: what happens.", said)
        self.assertIn("42 µs: server/rping[12]/main calls rdma_create_qp: 0.", said)
        self.assertIn("42 µs: server/rping[12]/main calls rdma_create_qp: -1 ENOMEM.", said)
        self.assertTrue(left["x"] < 640 < right["x"], (left, right))
        self.assertLess(abs(left["y"] - right["y"]), 3)

    def test_two_runs_scroll_together(self):
        page = self.open("handshake", "losses")
        tops = "[...document.querySelectorAll('.scroller')].map(one => one.scrollTop)"
        before = page.run(tops)

        page.run("document.querySelector('.scroller').scrollTop += 40")
        page.settle()
        page.settle()

        self.assertEqual([after - top for after, top in zip(page.run(tops), before)], [40, 40])

    def test_runs_that_differ_in_numbers_only_are_said_to(self):
        run = samples.handshake("9")
        for record in run.records:
            if record["name"] == "REQ":
                record["fields"]["id"] = "0x5e6f"
        text = io.StringIO()
        run.write(text)
        other = self.pages.lines("other-number", text.getvalue())

        self.browser.open(self.pages.of(self.pages.sample("handshake"), other))

        self.assertIn("First difference: only id.", self.browser.text("#moment"))

    def test_what_becomes_known_late_is_a_difference_where_it_does(self):
        run = samples.hang("8")
        event = next(one for one in run.records if "acknowledged" not in one
                     and one["is"] == "event")
        event["acknowledged"] = 30 * samples.SECOND
        text = io.StringIO()
        run.write(text)
        other = self.pages.lines("acknowledged", text.getvalue())

        self.browser.open(self.pages.of(self.pages.sample("hang"), other))

        said = " ".join(self.browser.text("#moment").split())
        self.assertIn("server/rping[12] hangs: nothing can happen any more", said)
        self.assertIn(f"30 s: RDMA_CM_EVENT_DISCONNECTED of #{event['n']} is acknowledged.", said)

    def test_the_same_run_twice_is_the_same(self):
        page = self.open("handshake:8", "handshake:9")

        self.assertEqual(page.text("#moment"), "Both runs are the same.")

    def test_a_link_names_the_run(self):
        page = self.open("handshake", "rejected", fragment="#run=2&n=25")

        self.assertIn("server sends REJ to client", self.panel())
        self.assertEqual(page.run("location.hash"), "#run=2&n=25")


class Paper(PageTest):
    """Print, dark and light."""

    def test_print_has_the_diagram_and_the_run_in_sentences(self):
        page = self.open("hang")
        path = self.pages.folder / "hang.pdf"

        page.paper(path)

        self.assertGreater(path.stat().st_size, 20_000)
        self.assertGreater(page.run("document.querySelectorAll('#print canvas').length"), 1)
        self.assertIn("server/rping[12]/main waits for ever in rdma_destroy_id",
                      page.run("document.getElementById('print').textContent"))

    def test_of_a_long_run_the_surroundings_of_the_moment_are_printed(self):
        page = self.open("large")

        page.run("dispatchEvent(new Event('beforeprint'))")

        text = page.run("document.getElementById('print').textContent")
        self.assertIn("client/perf[12]/main waits for ever", text)
        self.assertIn("Left out: 99,", text)

    def test_the_system_says_dark_or_light_and_a_button_says_otherwise(self):
        page = self.browser
        page.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark"}])
        self.open("handshake")
        dark = page.run("getComputedStyle(document.body).backgroundColor")

        page.click("#theme")
        light = page.run("getComputedStyle(document.body).backgroundColor")
        page.call("Emulation.setEmulatedMedia", features=[])

        self.assertEqual((dark, light), ("rgb(18, 24, 31)", "rgb(255, 255, 255)"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
