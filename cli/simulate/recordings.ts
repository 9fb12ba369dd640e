import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import type { Ports } from '../../shared/ports.ts';

/** In the folder of a recorded run: the world at its end. */
export const FINAL_STATE = 'final-state.json';

/** The ports, with what decisions were made from written below the folder as they are made. */
export function recordingTo(folder: string): (ports: Ports) => Ports {
  const snapshots = join(folder, 'snapshots');
  mkdirSync(snapshots, { recursive: true });
  return (ports) => {
    const { recorder } = ports;
    return {
      ...ports,
      recorder: {
        decision: (record) => recorder.decision(record),
        count: (metric, dimensions, by) => recorder.count(metric, dimensions, by),
        measure: (metric, value) => recorder.measure?.(metric, value),
        recording: (name, _, text) => {
          writeFileSync(join(snapshots, `${name}.json`), `${text(packageJson.version)}\n`);
        },
      },
    };
  };
}
