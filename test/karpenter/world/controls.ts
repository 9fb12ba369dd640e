import { createServer, type IncomingMessage } from 'node:http';
import { property, text } from '../../../shared/kube/list.ts';
import type { WireCloud } from '../../support/aws/cloud.ts';
import { spotWarning } from '../../support/closed-loop/messages.ts';
import { close, listen } from '../../support/loopback.ts';

/** What `GET /state` tells of a world. */
export interface WorldState {
  readonly instances: readonly {
    readonly id: string;
    readonly type: string;
    readonly state: string;
  }[];
  readonly faults: readonly string[];
}

/**
 * The world's address for who plays a suite: `GET /state`, and `POST /warn` with `{"id": …}`, which
 * is what AWS's fault injection does with a spot instance.
 */
export async function listenForControls(cloud: WireCloud, faults: readonly string[]) {
  const { account } = cloud;
  const state = (): WorldState => ({
    instances: [...account.instances.values()].map(({ id, instanceType, state }) => {
      return { id, type: instanceType, state };
    }),
    faults,
  });
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      if (request.url === '/warn') {
        cloud.send(spotWarning(account, text(property(JSON.parse(body), 'id'))));
      }
      response.end(JSON.stringify(state()));
    });
  });
  const url = await listen(server);
  return { url, close: () => close(server) };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

const NOTABLE = ['stopped', 'shutting-down', 'terminated'];
const LOOK_MS = 500;

/** EventBridge's rule for state changes of instances, whoever caused them. Returns what stops it. */
export function tellOfStates(cloud: WireCloud): () => void {
  const { account } = cloud;
  const told = new Map<string, string>();
  const timer = setInterval(() => {
    for (const { id, state } of account.instances.values()) {
      if (told.get(id) === state) continue;
      told.set(id, state);
      if (!NOTABLE.includes(state)) continue;
      const message = {
        version: '0',
        id: `${id}-${state}`,
        source: 'aws.ec2',
        'detail-type': 'EC2 Instance State-change Notification',
        account: account.id,
        region: account.region,
        time: new Date().toISOString(),
        resources: [`arn:aws:ec2:${account.region}:${account.id}:instance/${id}`],
        detail: { 'instance-id': id, state },
      };
      cloud.send(JSON.stringify(message));
    }
  }, LOOK_MS);
  return () => clearInterval(timer);
}
