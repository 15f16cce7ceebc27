"""The unchanged Python SDK against a real process of Burgee."""

import json
import re
import signal
import sys
import unittest
from datetime import datetime, timezone

import posthog.request
from burgee_process import PERSONAL_API_KEY, PROJECT_API_KEY, PROJECT_SECRET_KEY, BurgeeProcess
from posthog import Posthog

LOCALLY = {"only_evaluate_locally": True}
BLUE = {"colour": "#00f", "sizes": [1, 2]}

# Warnings of the log do not count.
LOGGED_PROBLEM = re.compile(r'"level":("error"|"fatal"|50|60)')

burgee = None


def when(*properties, rollout=100):
    return {"groups": [{"properties": list(properties), "rollout_percentage": rollout}]}


def person_has(key, value):
    return {"key": key, "type": "person", "operator": "exact", "value": value}


def setUpModule():
    global burgee
    burgee = BurgeeProcess()
    unittest.addModuleCleanup(stop_burgee)
    client = open_client()
    client.group_identify("company", "acme", {"seats": 500})
    client.shutdown()
    seats = {"key": "seats", "type": "group", "group_type_index": 0, "operator": "gt", "value": 100}
    variants = [
        {"key": "red", "rollout_percentage": 0},
        {"key": "blue", "rollout_percentage": 100},
    ]
    payloads = {"blue": '{"colour":"#00f","sizes":[1,2]}'}
    flags = {
        "on": when(),
        "off": when(rollout=0),
        "partly": when(rollout=40),
        "pro-only": when(person_has("plan", "pro")),
        "first-is-a": when(person_has("first", "a")),
        "colour": {**when(), "multivariate": {"variants": variants}, "payloads": payloads},
        "big-companies": {**when(seats), "aggregation_group_type_index": 0},
        "limited": {**when(), "payloads": {"true": '{"limit": 7}'}},
    }
    for key, filters in flags.items():
        burgee.create_flag(key, filters=filters)
    settings = {**when(), "payloads": {"true": '{"password": "open sesame"}'}}
    burgee.create_flag("settings", filters=settings, is_remote_configuration=True)
    burgee.create_flag(
        "secret-settings",
        filters=settings,
        is_remote_configuration=True,
        has_encrypted_payloads=True,
    )


def stop_burgee():
    log = burgee.log()
    code = burgee.stop()
    problems = [line for line in log.splitlines() if LOGGED_PROBLEM.search(line)]
    if code != 0 or problems:
        raise AssertionError("\n".join([f"Burgee ended with {code}.", *problems]))


def open_client(**options):
    return Posthog(PROJECT_API_KEY, host=burgee.url, max_retries=0, **options)


class ClientTest(unittest.TestCase):
    """A test with clients that are closed after it; what they could not send fails it."""

    def setUp(self):
        self.failures = []

    def open(self, **options):
        def on_error(error, _batch):
            self.failures.append(error)

        client = open_client(on_error=on_error, **options)
        self.addCleanup(client.shutdown)
        return client

    def assert_sent(self):
        self.assertEqual(self.failures, [])


class RemoteEvaluation(ClientTest):
    def test_booleans(self):
        client = self.open()
        self.assertIs(client.feature_enabled("on", "user-1"), True)
        self.assertIs(client.feature_enabled("off", "user-1"), False)
        self.assertIs(client.get_feature_flag("on", "user-1"), True)
        self.assertIsNone(client.get_feature_flag("no-such-flag", "user-1"))

    def test_variants_and_payloads(self):
        client = self.open()
        self.assertEqual(client.get_feature_flag("colour", "user-1"), "blue")
        self.assertEqual(as_json(client.get_feature_flag_payload("colour", "user-1")), BLUE)
        self.assertEqual(as_json(client.get_feature_flag_payload("limited", "user-1")), {"limit": 7})
        self.assertIsNone(client.get_feature_flag_payload("on", "user-1"))

    def test_all_flags(self):
        client = self.open()
        expected = {"on": True, "off": False, "pro-only": False, "colour": "blue", "settings": True}
        flags = client.get_all_flags("user-1")
        self.assertEqual({key: flags[key] for key in expected}, expected)
        self.assertNotIn("secret-settings", flags)
        both = client.get_all_flags_and_payloads("user-1")
        self.assertEqual(both["featureFlags"], flags)
        self.assertEqual(as_json(both["featureFlagPayloads"]["colour"]), BLUE)

    def test_one_evaluation_of_all_flags(self):
        client = self.open()
        flags = client.evaluate_flags("user-1", person_properties={"plan": "pro"})
        self.assertTrue(flags.is_enabled("pro-only"))
        self.assertEqual(flags.get_flag("colour"), "blue")

    def test_groups(self):
        client = self.open()

        def ask(company, **options):
            return client.feature_enabled(
                "big-companies", "user-1", groups={"company": company}, **options
            )

        self.assertIs(ask("acme"), True)
        self.assertIs(ask("acme", group_properties={"company": {"seats": 3}}), False)
        self.assertIs(ask("small"), False)
        self.assertIs(ask("small", group_properties={"company": {"seats": 101}}), True)
        self.assertIs(client.feature_enabled("big-companies", "user-1"), False)

    def test_overridden_person_properties(self):
        client = self.open()
        self.assertIs(client.feature_enabled("pro-only", "user-2"), False)
        pro = {"person_properties": {"plan": "pro"}}
        self.assertIs(client.feature_enabled("pro-only", "user-2", **pro), True)


class LocalEvaluation(ClientTest):
    def open_local(self, key=PERSONAL_API_KEY):
        client = self.open(personal_api_key=key)
        client.load_feature_flags()
        return client

    def test_definitions_are_read_with_both_kinds_of_keys(self):
        for key in (PERSONAL_API_KEY, PROJECT_SECRET_KEY):
            keys = {flag["key"] for flag in self.open_local(key).feature_flags}
            self.assertLessEqual({"on", "colour", "big-companies"}, keys)

    def test_all_kinds_of_flags(self):
        client = self.open_local()
        self.assertIs(client.feature_enabled("on", "user-1", **LOCALLY), True)
        self.assertIs(client.feature_enabled("off", "user-1", **LOCALLY), False)
        self.assertEqual(client.get_feature_flag("colour", "user-1", **LOCALLY), "blue")
        payload = client.get_feature_flag_payload("colour", "user-1", **LOCALLY)
        self.assertEqual(as_json(payload), BLUE)
        pro = {"person_properties": {"plan": "pro"}}
        self.assertIs(client.feature_enabled("pro-only", "user-1", **LOCALLY, **pro), True)
        self.assertIsNone(client.get_feature_flag("pro-only", "user-1", **LOCALLY))
        acme = {"groups": {"company": "acme"}, "group_properties": {"company": {"seats": 500}}}
        self.assertIs(client.feature_enabled("big-companies", "user-1", **LOCALLY, **acme), True)

    def test_agrees_with_the_server(self):
        local, remote = self.open_local(), self.open()
        values = set()
        for index in range(100):
            distinct_id = f"person-{index}"
            value = local.get_feature_flag(
                "partly", distinct_id, send_feature_flag_events=False, **LOCALLY
            )
            self.assertIs(remote.get_all_flags(distinct_id)["partly"], value)
            values.add(value)
        self.assertEqual(values, {True, False})

    def test_second_load_is_told_that_nothing_changed(self):
        client = self.open_local()
        before = client.feature_flags
        client.load_feature_flags()
        self.assertEqual(client.feature_flags, before)
        answered = burgee.read_text("/metrics")
        self.assertRegex(answered, r'operation="getFlagDefinitions",status="304"} [1-9]')

    def test_remote_config_payload(self):
        client = self.open_local()
        for key in ("settings", "secret-settings"):
            payload = client.get_remote_config_payload(key)
            self.assertEqual(payload, '{"password": "open sesame"}')


class Capture(ClientTest):
    """What was captured shows in the next evaluation, which has stored properties to go by."""

    def assert_stored(self, flag, distinct_id, expected=True):
        self.assertIs(self.open().get_all_flags(distinct_id)[flag], expected)

    def capture_everything(self, name, **options):
        client = self.open(**options)
        now = datetime.now(timezone.utc)
        plan = {"$set": {"plan": "pro"}}
        client.capture("bought", distinct_id=f"{name}-buyer", properties=plan, timestamp=now)
        client.set(distinct_id=f"{name}-setter", properties={"plan": "pro"})
        client.set_once(distinct_id=f"{name}-once", properties={"first": "a"})
        client.set_once(distinct_id=f"{name}-once", properties={"first": "b"})
        client.alias(f"{name}-setter", f"{name}-alias")
        client.group_identify("company", name, {"seats": 101})
        client.flush()
        self.assert_sent()
        self.assert_stored("pro-only", f"{name}-buyer")
        self.assert_stored("pro-only", f"{name}-setter")
        self.assert_stored("pro-only", f"{name}-alias")
        self.assert_stored("pro-only", f"{name}-nobody", False)
        self.assert_stored("first-is-a", f"{name}-once")
        groups = {"company": name}
        self.assertIs(self.open().feature_enabled("big-companies", "user-1", groups=groups), True)

    def test_plain(self):
        with Wire() as wire:
            self.capture_everything("plain")
        self.assertEqual(wire.encodings_of("/batch/"), {None})

    def test_compressed(self):
        with Wire() as wire:
            self.capture_everything("compressed", gzip=True)
        # Other clients of the test read flags only, and report that they did.
        self.assertIn("gzip", wire.encodings_of("/batch/"))

    def test_one_request_for_each_event(self):
        self.capture_everything("one-by-one", sync_mode=True)

    def test_everything_arrives_once_and_whole(self):
        client = self.open(flush_at=20, gzip=True)
        whole = {"text": "ü€😀", "nested": {"list": [1, None, {"deep": True}]}}
        for index in range(150):
            client.capture("counted", distinct_id="counter", properties={**whole, "index": index})
        client.shutdown()
        self.assert_sent()
        events = burgee.events(event="counted")
        self.assertEqual(sorted(event["properties"]["index"] for event in events), list(range(150)))
        for event in events:
            self.assertEqual(event["distinct_id"], "counter")
            self.assertEqual({key: event["properties"][key] for key in whole}, whole)
            self.assertEqual(event["properties"]["$lib"], "posthog-python")

    def test_what_is_queued_is_sent_on_shutdown(self):
        client = self.open(flush_at=1_000, flush_interval=60)
        client.set(distinct_id="late", properties={"plan": "pro"})
        client.shutdown()
        self.assert_sent()
        self.assert_stored("pro-only", "late")

    def test_event_with_the_flags_of_its_person(self):
        client = self.open()
        flags = client.evaluate_flags("flag-user")
        self.assertTrue(flags.is_enabled("on"))
        client.capture("read", distinct_id="flag-user", flags=flags)
        client.flush()
        self.assert_sent()


class Wire:
    """Notes the encoding of what the SDK's own session sends, and changes nothing."""

    def __enter__(self):
        self._session = posthog.request._get_session()
        self._send = self._session.send
        self._sent = []
        self._session.send = self._note
        return self

    def _note(self, request, **options):
        self._sent.append((request.path_url, request.headers.get("Content-Encoding")))
        return self._send(request, **options)

    def __exit__(self, *_):
        del self._session.send

    def encodings_of(self, path):
        return {encoding for sent_to, encoding in self._sent if sent_to == path}


def as_json(payload):
    return json.loads(payload) if isinstance(payload, str) else payload


class CountingResult(unittest.TextTestResult):
    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1


def main():
    # Ended from outside, it still ends what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    runner = unittest.TextTestRunner(
        stream=sys.stdout, verbosity=2, resultclass=CountingResult, warnings="ignore"
    )
    result = runner.run(suite)
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    print(f"{result.passed} passed, {failed} failed", flush=True)
    return 0 if failed == 0 and result.passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
