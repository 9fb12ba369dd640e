/**
 * Asks Karpenter's own scheduler about the cases of this folder and keeps its answers:
 *
 *     node test/parity/first-fit/collect.ts ORACLE
 *
 * ORACLE is a program that links sigs.k8s.io/karpenter v1.14.1: `ORACLE schedule -in CASE -out ANSWER
 * -repeat N` answers a case N times. Kept of each case: its digest, and the least and the most that
 * the answers cost, launch and leave over, because they differ where topology leaves a choice.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Json, listAt, objectAt } from '../../../shared/sim/json.ts';
import { CASES, caseOf, digestOf } from './cases.ts';

const [oracle] = process.argv.slice(2);
if (oracle === undefined) throw new Error('usage: collect.ts ORACLE');

/** Answers of a case; large ones take seconds each. */
function repeats(pods: number): number {
  return pods > 500 ? 4 : 24;
}

const folder = mkdtempSync(join(tmpdir(), 'first-fit-'));
const [input, output] = [join(folder, 'case.json'), join(folder, 'answer.json')];

function answerOf(seed: number): Json {
  const problem = caseOf(seed);
  const pods = listAt(problem, 'pods').length;
  writeFileSync(input, JSON.stringify(problem));
  const repeat = ['-repeat', String(repeats(pods)), '-no-timings'];
  execFileSync(oracle ?? '', ['schedule', '-in', input, '-out', output, ...repeat]);
  const answer: Json = JSON.parse(readFileSync(output, 'utf8'));
  if (Object.keys(objectAt(answer, 'rejected')).length > 0) throw new Error(`case ${seed}`);
  const varied = objectAt(answer, 'variability');
  const { price, newNodes: nodes, failed: unplaced } = varied;
  return { seed, digest: digestOf(problem), pods, price, nodes, unplaced };
}

const answers = Array.from({ length: CASES }, (_, index) => answerOf(index + 1));
rmSync(folder, { recursive: true });
const lines = answers.map((answer) => `  ${JSON.stringify(answer)}`);
writeFileSync(join(import.meta.dirname, 'answers.json'), `[\n${lines.join(',\n')}\n]\n`);
process.stdout.write(`${answers.length} answers\n`);
