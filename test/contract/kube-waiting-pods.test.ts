import { describe, expect, it } from 'vitest';
import { systemTiming } from '../../shared/kube/time.ts';
import type { HttpRequest, HttpResponse } from '../../shared/kube/transport.ts';
import { followWaitingPods } from '../../shared/kube/waiting-pods.ts';
import { PortError } from '../../shared/ports.ts';
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
  const listener = { told: () => undefined, over: () => undefined };
  const client = memoryClient(respond, systemTiming);
  const followed = followWaitingPods(client, listener, over.signal);
  return { requests, followed, over };
}

describe('waiting pods', () => {
  it('are asked for their metadata alone when it is quiet', async () => {
    const { requests, followed, over } = await follow((request) =>
      isWatch(request) ? streaming(200, [never]) : empty(),
    );
    expect(await (await followed).quiet()).toEqual([]);
    expect(requests.at(-1)?.headers['accept']).toContain('as=PartialObjectMetadataList');
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
    await expect(stream.quiet()).rejects.toThrow(PortError);
    over.abort();
  });

  it('are not followed where it answers nothing', async () => {
    const { followed } = await follow(() => undefined);
    await expect(followed).rejects.toThrow(PortError);
  });
});
