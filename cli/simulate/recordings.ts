import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import type { Ports } from '../../shared/ports.ts';
import { BadInput, unreadable } from '../bad-input.ts';

/** In the folder of a recorded run: the world at its end. */
export const FINAL_STATE = 'final-state.json';
/** Beside it: what was decided, a line for each decision. */
export const DECISIONS = 'decisions.ndjson';

/**
 * The folder is made, and has no records yet: of two runs together, or of a run and a copy of the
 * bucket, savings, backtest and advise would make wrong figures.
 */
export function makeRecordFolder(folder: string): void {
  const snapshots = join(folder, 'snapshots');
  const written = [FINAL_STATE, DECISIONS].filter((name) => existsSync(join(folder, name)));
  try {
    mkdirSync(snapshots, { recursive: true });
    const [first] = [...written, ...readdirSync(snapshots).map((name) => join('snapshots', name))];
    if (first === undefined) return;
    const said = `has records of another run already, such as ${first}`;
    throw new BadInput([`--record ${folder}: ${said}; name a new folder, or empty this one`]);
  } catch (error) {
    throw error instanceof BadInput ? error : unreadable(folder, error, 'a folder to record in');
  }
}

/** The ports, with what decisions were made from written below the folder as they are made. */
export function recordingTo(folder: string): (ports: Ports) => Ports {
  const snapshots = join(folder, 'snapshots');
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
