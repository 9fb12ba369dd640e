import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { runningControllers } from './deployment.ts';

/** What runs in the pods of Karpenter's Deployment: Karpenter itself, or what stands in for it. */
export interface ControllerProgram {
  /** A pod has started. */
  start(pod: string): void;
  /** A pod is told to end; resolves when its program has. */
  stop(pod: string): Promise<void>;
}

const LOOK_MS = 200;

/** Runs the program in each pod of the Deployment that runs. Returns what ends it all. */
export function runControllers(admin: KubeClient, program: ControllerProgram): () => Promise<void> {
  const running = new Set<string>();
  const over = new AbortController();
  const look = async (): Promise<void> => {
    const pods = await runningControllers(admin);
    for (const pod of pods.filter((each) => !running.has(each))) {
      running.add(pod);
      program.start(pod);
    }
    for (const pod of [...running].filter((each) => !pods.includes(each))) {
      running.delete(pod);
      await program.stop(pod);
    }
  };
  const loop = (async () => {
    while (!over.signal.aborted) {
      await look();
      await sleep(LOOK_MS);
    }
  })();
  return async () => {
    over.abort();
    await loop;
    for (const pod of running) await program.stop(pod);
  };
}
