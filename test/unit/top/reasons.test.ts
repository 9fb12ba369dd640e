import { expect, it } from 'vitest';
import { readReasons } from '../../../cli/top/watch/reasons.ts';
import { FUNCTION_NAMES } from '../../../shared/contract.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';

function event(component: string, atMinute: number): object {
  return {
    involvedObject: { kind: 'Pod', namespace: 'shop', name: 'web' },
    reason: 'FailedScheduling',
    message: `Failed to schedule pod, ${component}`,
    source: { component },
    lastTimestamp: new Date(atMinute * 60_000).toISOString(),
  };
}

/** Whose event is shown of these, the newest last. */
async function shown(...components: readonly string[]): Promise<string | undefined> {
  const list = { metadata: {}, items: components.map((each, at) => event(each, at)) };
  const client = {
    open: async () => ({ header: () => 'application/json' }),
    bytes: async () => Buffer.from(JSON.stringify(list)),
  } as unknown as KubeClient;
  return (await readReasons(client)).get('shop/web');
}

it("provision's event counts before kube-scheduler's, and the newest of those alike", async () => {
  expect(await shown('joiner-provision', 'default-scheduler')).toBe('joiner-provision');
  expect(await shown('default-scheduler', 'joiner-provision')).toBe('joiner-provision');
  expect(await shown('other', 'default-scheduler')).toBe('default-scheduler');
});

const others = FUNCTION_NAMES.filter((name) => name !== 'provision').map(
  (name) => `joiner-${name}`,
);

it.each(['joiner-evil', 'joiner-', 'joiner-provision2', 'joiner', ...others])(
  '%s is no writer of such events, and counts as anybody else',
  async (component) => {
    expect(await shown(component, 'default-scheduler')).toBe('default-scheduler');
    expect(await shown(component, 'joiner-provision', component)).toBe('joiner-provision');
  },
);
