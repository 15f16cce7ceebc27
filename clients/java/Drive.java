import burgee.ApiClient;
import burgee.ApiException;
import burgee.JSON;
import burgee.api.EvaluationApi;
import burgee.api.FeatureFlagsApi;
import burgee.model.ActivityEntry.ActivityEnum;
import burgee.model.ActivityPage;
import burgee.model.Error;
import burgee.model.EvaluateFlagsRequest;
import burgee.model.EvaluateFlagsRequestDistinctId;
import burgee.model.FeatureFlag;
import burgee.model.FeatureFlagCreate;
import burgee.model.FlagValues;
import java.util.List;
import java.util.Map;

/** Creates a flag, evaluates it, reads its activity and is refused, with a generated client. */
class Drive {
  private static final String KEY = "from-openapi-generator";
  private static final String PROJECT = "@current";

  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(System.getenv("BURGEE_URL"));
    client.setRequestInterceptor(
        request ->
            request.header("Authorization", "Bearer " + System.getenv("BURGEE_PERSONAL_API_KEY")));

    FeatureFlagsApi flags = new FeatureFlagsApi(client);
    FeatureFlagCreate definition =
        new FeatureFlagCreate()
            .key(KEY)
            .filters(Map.of("groups", List.of(Map.of("rollout_percentage", 100))));
    FeatureFlag created = flags.createFeatureFlag(PROJECT, definition);
    require(KEY.equals(created.getKey()), created);

    evaluate(new EvaluationApi(client));

    ActivityPage activity = flags.listFeatureFlagActivity(PROJECT, created.getId(), null, null, null);
    require(activity.getResults().get(0).getActivity() == ActivityEnum.CREATED, activity);

    Error refusal = refusalOf(flags, definition);
    require("unique".equals(refusal.getCode()) && "key".equals(refusal.getAttr()), refusal);
  }

  private static void evaluate(EvaluationApi evaluation) throws ApiException {
    EvaluateFlagsRequest request =
        new EvaluateFlagsRequest()
            .token(System.getenv("BURGEE_PROJECT_API_KEY"))
            .distinctId(new EvaluateFlagsRequestDistinctId("a-person"))
            .personProperties(Map.of("plan", "pro"));
    FlagValues values =
        evaluation.evaluateFlags(request, "2", null, null, null, null, null).getFlagValues();
    require(values.getFlags().get(KEY).getEnabled(), values);
  }

  /** The error reply to a key that is taken. */
  private static Error refusalOf(FeatureFlagsApi flags, FeatureFlagCreate taken) throws Exception {
    try {
      flags.createFeatureFlag(PROJECT, taken);
    } catch (ApiException refused) {
      require(refused.getCode() == 400, refused);
      return JSON.getDefault().getMapper().readValue(refused.getResponseBody(), Error.class);
    }
    throw new AssertionError("A key that is taken was not refused.");
  }

  private static void require(boolean holds, Object seen) {
    if (!holds) throw new AssertionError(seen);
  }
}
