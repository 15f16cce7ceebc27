"""Creates a flag, evaluates it and reads its activity with a generated client."""

import os

from burgee_client import AuthenticatedClient
from burgee_client.api.evaluation import evaluate_flags
from burgee_client.api.feature_flags import create_feature_flag, list_feature_flag_activity
from burgee_client.models.activity_page import ActivityPage
from burgee_client.models.evaluate_flags_request import EvaluateFlagsRequest
from burgee_client.models.feature_flag import FeatureFlag
from burgee_client.models.feature_flag_create import FeatureFlagCreate
from burgee_client.models.flag_filters import FlagFilters
from burgee_client.models.flag_values import FlagValues

KEY = "from-openapi-python-client"

client = AuthenticatedClient(
    base_url=os.environ["BURGEE_URL"], token=os.environ["BURGEE_PERSONAL_API_KEY"]
)

filters = FlagFilters.from_dict({"groups": [{"rollout_percentage": 100}]})
created = create_feature_flag.sync(
    "@current", client=client, body=FeatureFlagCreate(key=KEY, filters=filters)
)
assert isinstance(created, FeatureFlag), created

evaluated = evaluate_flags.sync(
    client=client,
    v="2",
    body=EvaluateFlagsRequest(
        token=os.environ["BURGEE_PROJECT_API_KEY"], distinct_id="a-person"
    ),
)
assert isinstance(evaluated, FlagValues), evaluated
assert evaluated.flags[KEY].enabled is True

activity = list_feature_flag_activity.sync("@current", created.id, client=client)
assert isinstance(activity, ActivityPage), activity
assert activity.results[0].activity == "created"
