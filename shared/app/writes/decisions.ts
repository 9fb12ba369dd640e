import type { Ports } from '../../ports.ts';

/** What is recorded goes through these only. */
export interface Recording {
  readonly ports: Pick<Ports, 'clock' | 'recorder'>;
}

/** That something due was not done, once for each reason and object in a while. */
export async function recordNothing(
  { ports }: Recording,
  reason: string,
  object: string,
  message: string,
  useCase: 'provision' | 'lifecycle' | 'disrupt' | 'interrupt' = 'provision',
): Promise<void> {
  await ports.recorder.decision({
    id: `${useCase}-none-${reason}-${object.replaceAll('/', '-')}`,
    atMs: ports.clock.nowMs(),
    useCase,
    object,
    action: 'none',
    message,
    detail: { reason },
  });
}
