import { ALWAYS_BLUE, BIG_COMPANIES, EVERYBODY, NOBODY, PRO_ONLY } from '../posthog-client.ts';
import type { StartedBurgee } from '../start-burgee.ts';

const ONE_PERSON = {
  groups: [
    {
      properties: [{ key: 'distinct_id', type: 'person', operator: 'exact', value: ['chosen'] }],
      rollout_percentage: 100,
    },
  ],
};

/** Flags that show everything which a client can ask for. The group type has to exist. */
export async function createClientFlags(burgee: StartedBurgee): Promise<void> {
  await burgee.createFlag({ key: 'on', filters: EVERYBODY });
  await burgee.createFlag({ key: 'off', filters: NOBODY });
  await burgee.createFlag({ key: 'disabled', filters: EVERYBODY, active: false });
  await burgee.createFlag({ key: 'pro-only', filters: PRO_ONLY });
  await burgee.createFlag({ key: 'one-person', filters: ONE_PERSON });
  await burgee.createFlag({ key: 'colour', filters: ALWAYS_BLUE });
  await burgee.createFlag({ key: 'big-companies', filters: BIG_COMPANIES });
  await burgee.createFlag({
    key: 'partly',
    filters: { groups: [{ properties: [], rollout_percentage: 40 }] },
  });
  await burgee.createFlag({
    key: 'settings',
    is_remote_configuration: true,
    filters: { ...EVERYBODY, payloads: { true: '{"limit": 7}' } },
  });
  await burgee.createFlag({
    key: 'secret-settings',
    is_remote_configuration: true,
    has_encrypted_payloads: true,
    filters: { ...EVERYBODY, payloads: { true: '{"password": "open sesame"}' } },
  });
}
