import { describe, expect, it, vi } from 'vitest';
import { batchWindow } from '../../shared/kube/batch-window.ts';
import { systemTiming } from '../../shared/kube/time.ts';
import type { HttpRequest, HttpResponse } from '../../shared/kube/transport.ts';
import { followWaitingPods } from '../../shared/kube/waiting-pods.ts';
import { PortError, type WaitingPod } from '../../shared/ports.ts';
import { answer, memoryClient, streaming } from './kube-memory.ts';

type Answers = (request: HttpRequest) => HttpResponse | undefined;

const never = (): Promise<void> => new Promise(() => undefined);
const isWatch = ({ path }: HttpRequest): boolean => path.includes('watch=1');
const isProbe = ({ path }: HttpRequest): boolean => /limit=1(&|$)/.test(path);
const empty = () => answer(200, { metadata: { resourceVersion: '7' }, items: [] });

/** An API server that leaves a request without an answer where it is given none. */
async function follow(answers: Answers) {
  const requests: HttpRequest[] = [];
  const respond = async (request: HttpRequest): Promise<HttpResponse> => {
    requests.push(request);
    const given = answers(request);
    if (given !== undefined) return given;
    return await new Promise((_, reject) => {
      request.signal?.addEventListener('abort', () => reject(new Error('aborted')));
    });
  };
  const over = new AbortController();
  const changes: WaitingPod[] = [];
  const listener = {
    onChange: (pod: WaitingPod) => void changes.push(pod),
    onEnd: () => undefined,
  };
  const client = memoryClient(respond, systemTiming);
  const followed = followWaitingPods(client, listener, over.signal);
  return { requests, followed, over, changes };
}

describe('waiting pods', () => {
  it('are asked for their metadata alone where their order is wanted', async () => {
    const { requests, followed, over } = await follow((request) =>
      isWatch(request) ? streaming(200, [never]) : empty(),
    );
    expect(await (await followed).order()).toEqual([]);
    expect(requests.at(-1)?.headers['accept']).toContain('as=PartialObjectMetadataList');
    over.abort();
  });

  it('are over once, on the node that they have got, and not followed when they run', async () => {
    const event = (type: string, name: string, nodeName: string, phase = 'Pending') =>
      `${JSON.stringify({
        type,
        object: {
          metadata: { uid: name, resourceVersion: '8' },
          spec: { nodeName },
          status: { phase },
        },
      })}\n`;
    const events = [
      event('MODIFIED', 'p', ''),
      event('MODIFIED', 'p', 'a'),
      event('MODIFIED', 'p', 'a'),
      event('MODIFIED', 'p', 'a', 'Running'),
      event('MODIFIED', 'running', 'b', 'Running'),
      event('DELETED', 'q', ''),
    ];
    const { followed, over, changes } = await follow((request) =>
      isWatch(request) ? streaming(200, [...events, never]) : empty(),
    );
    await followed;
    await vi.waitFor(() => expect(changes).toHaveLength(3));
    expect(changes.map(({ uid, nodeName, isOver }) => [uid, nodeName, isOver])).toEqual([
      ['p', undefined, false],
      ['p', 'a', true],
      ['q', undefined, true],
    ]);
    over.abort();
  });

  it.each<[string, Answers]>([
    ['no list', (request) => (isProbe(request) ? empty() : undefined)],
    [
      'a watch and no list',
      (request) => {
        if (isWatch(request)) return streaming(200, [never]);
        return isProbe(request) ? empty() : undefined;
      },
    ],
  ])('are not waited for where the API server answers %s', async (_, answers) => {
    const { followed, over } = await follow(answers);
    const stream = await followed;
    await expect(stream.order()).rejects.toThrow(PortError);
    over.abort();
  });

  it('are not followed where it answers nothing', async () => {
    const { followed } = await follow(() => undefined);
    await expect(followed).rejects.toThrow(PortError);
  });
});

it('the batch window is sent the metadata of pods alone: thousands may have waited for long', async () => {
  const requests: HttpRequest[] = [];
  const client = memoryClient((request) => {
    requests.push(request);
    return streaming(200, [never]);
  }, systemTiming);
  await batchWindow(client, { idleMs: 10, maxMs: 100 });
  expect(requests.map(({ headers }) => headers['accept'])).toEqual([
    'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  ]);
});
