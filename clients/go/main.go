// Creates a flag, evaluates it and reads its activity with a generated client.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"

	"example.com/burgeeclient/burgee"
)

const key = "from-oapi-codegen"

func main() {
	if err := drive(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func drive(ctx context.Context) error {
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("BURGEE_PERSONAL_API_KEY"))
		return nil
	}
	client, err := burgee.NewClientWithResponses(
		os.Getenv("BURGEE_URL"), burgee.WithRequestEditorFn(authorize))
	if err != nil {
		return err
	}
	filters := burgee.FlagFilters{"groups": []map[string]any{{"rollout_percentage": 100}}}
	created, err := client.CreateFeatureFlagWithResponse(
		ctx, "@current", burgee.FeatureFlagCreate{Key: key, Filters: &filters})
	if err != nil {
		return err
	}
	if created.JSON201 == nil {
		return fmt.Errorf("create: %s %s", created.Status(), created.Body)
	}
	if err := evaluate(ctx, client); err != nil {
		return err
	}
	activity, err := client.ListFeatureFlagActivityWithResponse(
		ctx, "@current", created.JSON201.Id, nil)
	if err != nil {
		return err
	}
	if activity.JSON200 == nil || activity.JSON200.Results[0].Activity != "created" {
		return fmt.Errorf("activity: %s %s", activity.Status(), activity.Body)
	}
	return nil
}

func evaluate(ctx context.Context, client *burgee.ClientWithResponses) error {
	token, version := os.Getenv("BURGEE_PROJECT_API_KEY"), "2"
	var person burgee.EvaluateFlagsRequest_DistinctId
	if err := person.FromEvaluateFlagsRequestDistinctId0("a-person"); err != nil {
		return err
	}
	reply, err := client.EvaluateFlagsWithResponse(ctx,
		&burgee.EvaluateFlagsParams{V: &version},
		burgee.EvaluateFlagsRequest{Token: &token, DistinctId: &person})
	if err != nil {
		return err
	}
	if reply.JSON200 == nil {
		return fmt.Errorf("evaluate: %s %s", reply.Status(), reply.Body)
	}
	values, err := reply.JSON200.AsFlagValues()
	if err != nil {
		return err
	}
	if flag, found := values.Flags[key]; !found || !flag.Enabled {
		return fmt.Errorf("evaluate: the flag is not on: %s", reply.Body)
	}
	return nil
}
