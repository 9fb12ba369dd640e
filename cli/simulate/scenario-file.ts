import { dirname, resolve } from 'node:path';
import type { Issue } from '../../shared/api/issue.ts';
import type { Catalog } from '../../shared/catalog/facts.ts';
import { meant } from '../../shared/contract/nearest.ts';
import type { Json } from '../../shared/sim/json.ts';
import { decodeScenario, type Scenario, type ScenarioStep } from '../../shared/sim/scenario.ts';
import { BadInput } from '../bad-input.ts';
import { textOf } from '../manifest-files.ts';
import { issueText } from '../unknown-names.ts';
import { readYaml } from './yaml-text.ts';

/** Names shown of a list that is too long to print. */
const NAMES_MAX = 12;

/** Types of the family that was meant, else families: the whole list has hundreds of names. */
function knownTypes({ types, region }: Catalog, asked: string): string {
  const familyOf = (name: string): string => name.split('.')[0] ?? name;
  const family = types.map(({ name }) => name).filter((name) => familyOf(name) === familyOf(asked));
  if (family.length > 0) return `${familyOf(asked)} has ${family.join(', ')}`;
  const families = [...new Set(types.map(({ name }) => familyOf(name)))];
  const close = families.filter((name) => name[0] === asked[0]).slice(0, NAMES_MAX);
  return `families of ${region} are ${(close.length > 0 ? close : families.slice(0, NAMES_MAX)).join(', ')} …`;
}

function typeFault(catalog: Catalog, path: string, name: string | undefined): readonly Issue[] {
  if (name === undefined || catalog.types.some((each) => each.name === name)) return [];
  const near = meant(
    name,
    catalog.types.map((each) => each.name),
  );
  return [{ path, message: `no instance type "${name}"${near}; ${knownTypes(catalog, name)}` }];
}

function zoneFault(catalog: Catalog, path: string, zone: string | undefined): readonly Issue[] {
  const zones = catalog.zones.map((each) => each.zone);
  if (zone === undefined || zones.includes(zone)) return [];
  const message = `no zone "${zone}" in ${catalog.region}; valid: ${zones.join(', ')}`;
  return [{ path, message, unknown: { word: zone, known: zones } }];
}

/** An offering that is not there: of a type and a zone that both are. */
function offeringFault(
  catalog: Catalog,
  path: string,
  { instanceType, zone }: { readonly instanceType?: string; readonly zone?: string | undefined },
): readonly Issue[] {
  const type = catalog.types.find((each) => each.name === instanceType);
  if (type === undefined || zone === undefined || type.zones.includes(zone)) return [];
  if (!catalog.zones.some((each) => each.zone === zone)) return [];
  const message = `${type.name} is not offered in ${zone}; it is in ${type.zones.join(', ')}`;
  return [{ path: `${path}.zone`, message }];
}

function stepFaults(
  catalog: Catalog,
  durationMs: number | undefined,
  { at, price, unavailable, reserve }: ScenarioStep,
  path: string,
): readonly Issue[] {
  const faults: Issue[] = [];
  if (durationMs !== undefined && at > durationMs) {
    const message = `is ${minutes(at)} after the start, but the run ends after ${minutes(durationMs)}`;
    faults.push({ path: `${path}.at`, message: `${message}; give a longer --duration` });
  }
  for (const [name, given] of Object.entries({ price, unavailable, reserve })) {
    const field = `${path}.${name}`;
    faults.push(
      ...typeFault(catalog, `${field}.instanceType`, given?.instanceType),
      ...zoneFault(catalog, `${field}.zone`, given?.zone),
      ...offeringFault(catalog, field, {
        ...(given?.instanceType === undefined ? {} : { instanceType: given.instanceType }),
        zone: given?.zone,
      }),
    );
  }
  if (price?.capacityType === 'on-demand' && price.zone !== undefined) {
    const message = 'is for spot prices only: an on-demand price holds for the whole region';
    faults.push({ path: `${path}.price.zone`, message });
  }
  return faults;
}

function minutes(ms: number): string {
  return ms % 60_000 === 0 ? `${ms / 60_000}m` : `${ms / 1000}s`;
}

/** A scenario, checked against what the region offers and how long the run is. */
export function readScenario(
  file: string,
  catalog: Catalog,
  durationMs: number | undefined,
): Scenario {
  const problems: string[] = [];
  const text = textOf(file, problems);
  const [document, second] = readYaml(file, text, problems);
  if (second !== undefined) problems.push(`${file}:${second.lineOf('')}: one document is expected`);
  if (problems.length > 0) throw new BadInput(problems);
  const place = (path: string): string => `${file}:${document?.lineOf(path) ?? 1}`;
  const decoded = decodeScenario(document?.value);
  const faults = decoded.ok
    ? decoded.value.steps.flatMap((step, index) =>
        stepFaults(catalog, durationMs, step, `steps[${index}]`),
      )
    : decoded.issues;
  if (decoded.ok && faults.length === 0) return decoded.value;
  throw new BadInput(faults.map((each) => `${place(each.path)}: ${issueText(each)}`));
}

/** The manifest files that a scenario names, read before the run. */
export function scenarioFiles(
  scenario: Scenario,
  file: string,
  load: (path: string) => readonly Json[],
): ReadonlyMap<string, readonly Json[]> {
  const items = scenario.steps.flatMap((step) => [...(step.apply ?? []), ...(step.delete ?? [])]);
  const names = items.filter((item) => typeof item === 'string');
  return new Map([...new Set(names)].map((name) => [name, load(resolve(dirname(file), name))]));
}
