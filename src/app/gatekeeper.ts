import { requireToken, unknownToken } from '../domain/capture/parse/capture-token.ts';
import { Refusal } from '../domain/common/refusal.ts';
import type { IdentityStore } from '../domain/projects/identity-store.ts';
import type { SnapshotStore } from '../domain/snapshots/snapshot-store.ts';
import type { Gatekeeper } from '../http/pipeline/identify.ts';

/** Who is let in, as the pipeline asks for it: keys by the identities, tokens by what is served. */
export function createGatekeeper(identities: IdentityStore, snapshots: SnapshotStore): Gatekeeper {
  return {
    authenticate: (secret, address) => identities.authenticate(secret, address),
    enterProject: (caller, target) => identities.enterProject(caller, target),
    requireProjectToken(sent) {
      const token = asSentence(() => requireToken(sent));
      if (snapshots.getByToken(token) !== undefined) return;
      return snapshots.findByToken(token).then((served) => {
        if (served === undefined) {
          asSentence(() => {
            throw unknownToken();
          });
        }
      });
    },
  };
}

/** Capture v1 tells as a sentence what older capture tells as a line. */
function asSentence<Value>(run: () => Value): Value {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new Refusal(error.kind, `${error.detail}.`, { code: error.code });
  }
}
