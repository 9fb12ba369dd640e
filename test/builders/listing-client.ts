import { KubeClient } from '../../shared/kube/client.ts';
import { systemTiming } from '../../shared/kube/time.ts';

/** A client whose API server answers every list with these objects. */
export function listingClient(items: readonly object[]): KubeClient {
  const body = async function* () {
    yield Buffer.from(JSON.stringify({ metadata: {}, items }));
  };
  const answer = { status: 200, header: () => 'application/json', cancel: () => {} };
  const transport = {
    send: async () => ({ ...answer, body: body() }),
    close: async () => {},
  };
  return new KubeClient({
    transport,
    tokens: undefined,
    timing: systemTiming,
    name: 'joiner-test',
    version: '1',
  });
}
