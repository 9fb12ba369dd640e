/** The dashboard of the stack as CloudWatch gets it, with the names that its references stand for. */
import { isJson, type Json, listAt, numberAt, objectAt, textAt } from '../../../shared/sim/json.ts';
import { textOf } from '../repository.ts';

/** A template with every default, which a test compares with the stack. Its cluster is `demo`. */
const TEMPLATE = 'test/infra/golden/defaults.json';

/** A line of a graph: a metric of CloudWatch, or an expression on others. */
export interface Line {
  readonly label: string;
  /** What expressions call it; undefined: none does. */
  readonly id: string | undefined;
  readonly isHidden: boolean;
  readonly periodSeconds: number;
  readonly expression: string | undefined;
  /** Undefined where it is an expression. */
  readonly metric:
    | {
        readonly namespace: string;
        readonly name: string;
        readonly dimension: readonly [name: string, value: string];
        readonly statistic: string;
      }
    | undefined;
}

export interface Limit {
  readonly value: number;
  readonly label: string;
}

interface Placed {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export type Widget = Placed &
  (
    | { readonly type: 'text'; readonly markdown: string }
    | { readonly type: 'alarm'; readonly title: string; readonly alarms: readonly string[] }
    | {
        readonly type: 'graph';
        readonly title: string;
        readonly axis: string;
        readonly max: number | undefined;
        readonly lines: readonly Line[];
        readonly limits: readonly Limit[];
      }
    | {
        readonly type: 'table';
        readonly title: string;
        readonly logGroups: readonly string[];
        readonly query: string;
      }
  );

const NAMES = ['FunctionName', 'QueueName', 'LogGroupName'] as const;

/** What a reference of the template stands for: a name, or an alarm's short name. */
function nameOf(part: unknown, resources: Json): string {
  if (typeof part === 'string') return part;
  const reference = textAt(part, 'Ref') ?? String(listAt(part, 'Fn::GetAtt')[0]);
  if (reference.startsWith('AWS::')) return reference;
  const properties = objectAt(resources, reference, 'Properties');
  const named = NAMES.flatMap((name) => textAt(properties, name) ?? [])[0];
  return named ?? reference.replace(/^.*?Alarms/, '').replace(/[0-9A-F]{8}$/, '');
}

/** A metric is `[namespace, name, dimension, value, options]`, an expression `[options]`. */
function lineOf(parts: readonly unknown[]): Line {
  const options = parts.at(-1);
  const [namespace, name, dimension, value] = parts.slice(0, -1).map(String);
  const statistic = textAt(options, 'stat') ?? '';
  return {
    label: textAt(options, 'label') ?? '',
    id: textAt(options, 'id'),
    isHidden: isJson(options) && options['visible'] === false,
    periodSeconds: numberAt(options, 'period') ?? 0,
    expression: textAt(options, 'expression'),
    metric:
      namespace === undefined || name === undefined
        ? undefined
        : { namespace, name, dimension: [dimension ?? '', value ?? ''], statistic },
  };
}

function limitOf(each: Json): Limit {
  return { value: numberAt(each, 'value') ?? 0, label: textAt(each, 'label') ?? '' };
}

function widgetOf(widget: Json): Widget {
  const at = (name: string): number => numberAt(widget, name) ?? 0;
  const placed = { x: at('x'), y: at('y'), width: at('width'), height: at('height') };
  const properties = objectAt(widget, 'properties');
  const title = textAt(properties, 'title') ?? '';
  switch (textAt(widget, 'type')) {
    case 'text':
      return { ...placed, type: 'text', markdown: textAt(properties, 'markdown') ?? '' };
    case 'alarm':
      return { ...placed, type: 'alarm', title, alarms: listAt(properties, 'alarms').map(String) };
    case 'log': {
      const query = textAt(properties, 'query') ?? '';
      const logGroups = [...query.matchAll(/SOURCE '([^']+)'/g)].map(([, name = '']) => name);
      const rest = query.replaceAll(/SOURCE '[^']+' \| /g, '');
      return { ...placed, type: 'table', title, logGroups, query: rest };
    }
    default: {
      const lists = listAt(properties, 'metrics');
      return {
        ...placed,
        type: 'graph',
        title,
        axis: textAt(properties, 'yAxis', 'left', 'label') ?? '',
        max: numberAt(properties, 'yAxis', 'left', 'max'),
        lines: lists.map((each) => lineOf(Array.isArray(each) ? each : [])),
        limits: listAt(properties, 'annotations', 'horizontal').filter(isJson).map(limitOf),
      };
    }
  }
}

/** Every widget of the dashboard, in its order. */
export function dashboardWidgets(): readonly Widget[] {
  const resources = objectAt(JSON.parse(textOf(TEMPLATE)), 'Resources');
  const dashboard = Object.values(resources).find(
    (each) => textAt(each, 'Type') === 'AWS::CloudWatch::Dashboard',
  );
  const [, parts] = listAt(dashboard, 'Properties', 'DashboardBody', 'Fn::Join');
  const text = (Array.isArray(parts) ? parts : []).map((part) => nameOf(part, resources)).join('');
  return listAt(JSON.parse(text), 'widgets').filter(isJson).map(widgetOf);
}
