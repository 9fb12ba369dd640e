import { prepareSimulation, runUntil } from '../../cli/simulate/run.ts';
import { planRecording } from '../../shared/app/recording/recording.ts';
import { loadCatalog } from '../../shared/catalog/catalog.ts';
import { podKey } from '../../shared/core/model/pod.ts';
import { replan } from '../../shared/core/scheduling/replan.ts';
import { planningOf } from '../../shared/preview/preview.ts';
import type { Json } from '../../shared/sim/json.ts';
import { decodeScenario } from '../../shared/sim/scenario.ts';

/** Enough types for cheaper and dearer ones of both architectures. */
const TYPES = /^(m6i|m7g|c6i|c7g|r6i|r7g|t3)\.(large|xlarge|2xlarge|4xlarge)$/;

/** A simulated cluster after so many minutes, as a recording of `provision`, and its pods. */
export async function recordedMoment(
  manifests: readonly Json[],
  steps: readonly Json[],
  minutes: number,
): Promise<{ readonly text: string; readonly pods: readonly string[] }> {
  const whole = await loadCatalog('us-east-1');
  const prices = { ...whole, types: whole.types.filter(({ name }) => TYPES.test(name)) };
  const decoded = decodeScenario({ steps });
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.issues));
  const scenario = decoded.value;
  const simulation = await prepareSimulation({ catalog: prices, seed: 1, manifests, scenario });
  await runUntil(simulation, minutes * 60_000);
  const { cluster: live, catalog, clock } = simulation.world.ports;
  const nowMs = clock.nowMs();
  const planning = await planningOf({ live, state: await live.read(), catalog, prices, nowMs });
  const { snapshot, settings } = planning;
  const recording = { snapshot, settings, expected: [] };
  const text = planRecording(recording, replan(snapshot, settings), nowMs)('test');
  const running = snapshot.pods.filter(({ nodeName }) => nodeName !== undefined);
  return { text, pods: running.map(podKey).sort() };
}
