import { createHash } from 'node:crypto';
import { isJson, type Json } from '../../shared/sim/json.ts';
import { pageAssets } from './assets.ts';
import { documentText } from './draw/document.ts';
import type { PageInput } from './input.ts';
import { compareModel } from './model/compare.ts';
import { diagnoseModel } from './model/diagnose.ts';
import type { PageModel } from './model/model.ts';
import { planModel } from './model/plan.ts';
import { replayModel } from './model/replay.ts';
import { shadowModel } from './model/shadow.ts';
import { simulateModel } from './model/simulate.ts';
import { solveModel } from './model/solve.ts';

type Build = (subject: string, json: Json) => PageModel;

const MODELS: Readonly<Record<PageInput['command'], Build>> = {
  compare: compareModel,
  diagnose: diagnoseModel,
  plan: planModel,
  replay: replayModel,
  shadow: shadowModel,
  simulate: simulateModel,
  solve: solveModel,
};

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** What a page shows of what a command prints as JSON. */
export function modelOf({ command, subject, json }: PageInput): PageModel {
  const printed: unknown = JSON.parse(JSON.stringify(json));
  return MODELS[command](subject, isJson(printed) ? printed : {});
}

/** A page that needs no other file, and may load none. */
export async function pageOf(input: PageInput): Promise<string> {
  const { style, script } = await pageAssets();
  const policy = [
    "default-src 'none'",
    `style-src ${hashOf(style)}`,
    `script-src ${hashOf(script)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return documentText(modelOf(input), { style, script, policy });
}
