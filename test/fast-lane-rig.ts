import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Refusal } from '../src/domain/common/refusal.ts';
import {
  Admission,
  type AdmissionLimits,
  type Connection,
} from '../src/http/listener/admission.ts';
import { createFastLane } from '../src/http/listener/fast-lane.ts';
import { BodyMessage } from '../src/http/listener/node-internals.ts';
import type { Pipeline } from '../src/http/pipeline/pipeline.ts';
import type { OperationPlan } from '../src/http/pipeline/plan.ts';
import { renderRefusal } from '../src/http/styles/render-refusal.ts';
import { jsonReply } from '../src/http/wire/replies.ts';
import type { WireRequest } from '../src/http/wire/wire.ts';

/** The id that every request gets. */
export const REQUEST_ID = '0192f0c1-7c40-7c7e-8f5a-2f6f1f0a9b3c';

const WIDE: AdmissionLimits = {
  maxRequests: 100,
  maxBytes: 2 ** 27,
  addressRequestShare: 1,
  addressByteShare: 1,
};

/** How long the rest of a refused body is waited for: longer than any test takes to send it. */
const LINGER_MS = 50_000;

/** The fast lane behind a server, in front of answers that the test decides. */
export class FastLaneRig {
  readonly answered: { plan: OperationPlan; request: WireRequest }[] = [];
  readonly refused: { id: string; refusal: Refusal; requestId: string }[] = [];
  answer: Pipeline['run'] = async () => jsonReply(200, { fine: true });
  readonly server: Server;
  port = 0;

  /** `lingerMs` is how long the rest of a refused body is waited for. */
  constructor(plans: readonly OperationPlan[], lingerMs = LINGER_MS, limits = WIDE) {
    const fastLane = createFastLane(plans, this.#pipeline(), lingerMs);
    const admission = new Admission(limits);
    const connections = new WeakMap<object, Connection>();
    this.server = createServer({ IncomingMessage: BodyMessage }, (message, response) => {
      const { socket } = message;
      let connection = connections.get(socket);
      if (connection === undefined) {
        const made = admission.connect(socket.remoteAddress ?? '');
        connections.set(socket, made);
        socket.once('close', () => made.close());
        connection = made;
      }
      const envelope = { requestId: REQUEST_ID, origin: message.headers.origin, isLast: false };
      if (!fastLane(message, response, envelope, connection)) {
        response.writeHead(299).end('passed on');
      }
    });
  }

  async listen(): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    const address = this.server.address();
    this.port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  /** Sends a POST with a body. */
  post(path: string, body = '{}'): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.port}${path}`, { method: 'POST', body });
  }

  #pipeline(): Pipeline {
    return {
      run: (plan, request) => {
        this.answered.push({ plan, request });
        return this.answer(plan, request);
      },
      refuse: (plan, refusal, requestId) => {
        this.refused.push({ id: plan.operation.id, refusal, requestId });
        return renderRefusal(refusal, plan.operation.errorStyle);
      },
    };
  }
}
