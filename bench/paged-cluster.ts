/**
 * An API server on loopback with as many pods and nodes as asked for, in pages as the real one
 * sends them, for sizes that take too long to make in a real one: `node paged-cluster.ts PODS NODES`
 * prints its address. It knows lists only.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { nodeClass, nodePool } from '../test/support/closed-loop/manifests.ts';
import { boundPod, nodeManifest, nodeName } from './large-cluster.ts';

const [podCount = 0, nodeCount = 1] = process.argv.slice(2).map(Number);
/** One pod in a hundred has no node. */
const PENDING_EVERY = 100;
const VARIABLES = 20;
const at = '2026-01-01T00:00:00Z';

function bookkeeping(name: number): object {
  return { uid: `uid-${name}`, resourceVersion: `${1000 + name}`, creationTimestamp: at };
}

function pod(index: number): object {
  const bound = boundPod(index, nodeName(index % nodeCount), VARIABLES);
  const { metadata, spec } = bound as { readonly metadata: object; readonly spec: object };
  const isPending = index % PENDING_EVERY === 0;
  const unschedulable = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' };
  return {
    metadata: { ...metadata, ...bookkeeping(index) },
    spec: isPending ? { ...spec, nodeName: undefined } : spec,
    status: isPending
      ? { phase: 'Pending', conditions: [unschedulable] }
      : { phase: 'Running', startTime: at },
  };
}

function node(index: number): object {
  const manifest = nodeManifest(index);
  const { metadata } = manifest as { readonly metadata: object };
  return { ...manifest, metadata: { ...metadata, ...bookkeeping(index) } };
}

const pool = nodePool('general', [
  { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64', 'arm64'] },
]);

const KINDS: Readonly<Record<string, { readonly count: number; of(index: number): object }>> = {
  pods: { count: podCount, of: pod },
  nodes: { count: nodeCount, of: node },
  nodepools: {
    count: 1,
    of: () => ({ ...pool, metadata: { name: 'general', ...bookkeeping(1) } }),
  },
  ec2nodeclasses: {
    count: 1,
    of: () => ({ ...nodeClass, metadata: { name: 'default', ...bookkeeping(1) } }),
  },
};

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://api');
  const kind = KINDS[pathname.split('/').at(-1) ?? ''] ?? { count: 0, of: () => ({}) };
  const limit = Number(searchParams.get('limit') ?? kind.count);
  const from = Number(searchParams.get('continue') ?? 0);
  const to = Math.min(kind.count, from + limit);
  const items = Array.from({ length: to - from }, (_, index) => kind.of(from + index));
  const next = to < kind.count ? String(to) : undefined;
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ metadata: { resourceVersion: '9', continue: next }, items }));
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`http://127.0.0.1:${port}\n`);
});
