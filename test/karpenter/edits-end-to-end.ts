import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Change, Edits } from './edits.ts';
import { AWS, type Module } from './module.ts';

/** Minutes that a case waits for what has to come; Karpenter's suites wait 15 and 16. */
const EVENTUALLY_MINUTES = 6;
/** Numbers of pods of the performance suite are divided by this: it is made for 100 nodes. */
export const PERFORMANCE_DIVISOR = 5;

const ENVIRONMENT = 'test/pkg/environment/common/environment.go';
const EXPECTATIONS = 'test/pkg/environment/common/expectations.go';
const AWS_EXPECTATIONS = 'test/pkg/environment/aws/expectations.go';
const PERFORMANCE = 'test/suites/performance';
const REGRESSION = 'test/suites/regression';
const SCHEDULING = 'test/suites/scheduling-strict';
const SCHEDULED = 'test/suites/scheduling';

/** Here is no Deployment of Karpenter's to be configured anew, and no pod of it to wait for. */
const NO_DEPLOYMENT: readonly Change[] = [
  ...['ExpectSettingsReplaced', 'ExpectSettingsOverridden', 'ExpectSettingsRemoved'].map(
    (name): Change => [
      new RegExp(`func \\(env \\*Environment\\) ${name}\\([^)]*\\) \\{`),
      (head) => `${head}\n\treturn`,
    ],
  ),
  [
    'func (env *Environment) ExpectSettings() (res []corev1.EnvVar) {',
    'func (env *Environment) ExpectSettings() (res []corev1.EnvVar) {\n\treturn nil',
  ],
  [
    'func (env *Environment) EventuallyExpectKarpenterRestarted() {',
    'func (env *Environment) EventuallyExpectKarpenterRestarted() {\n\treturn',
  ],
];

/** A spot interruption comes from the world instead of AWS's fault injection. */
const WARNINGS: readonly Change[] = [
  [
    /func \(env \*Environment\) ExpectSpotInterruptionExperiment\([^)]*\) \*fistypes\.Experiment \{/,
    (head) => `${head}
\tfor _, id := range instanceIDs {
\t\tbody := strings.NewReader(fmt.Sprintf(\`{"id":%q}\`, id))
\t\t_, failed := http.Post(os.Getenv("WORLD_CONTROLS")+"/warn", "application/json", body)
\t\tExpect(failed).ToNot(HaveOccurred())
\t}
\tif len(instanceIDs) > 0 {
\t\treturn &fistypes.Experiment{ExperimentTemplateId: aws.String("none")}
\t}`,
  ],
  [
    'func (env *Environment) ExpectExperimentTemplateDeleted(id string) {',
    'func (env *Environment) ExpectExperimentTemplateDeleted(id string) {\n' +
      '\tif id == "none" {\n\t\treturn\n\t}',
  ],
  ['\n\t"net"\n', '\n\t"net"\n\t"net/http"\n\t"os"\n'],
];

/** A case's own controller takes a fixed port, which cases side by side cannot share. */
const NO_PORT: readonly Change[] = [
  [
    'controllerruntime.Options{Logger: log.FromContext(ctx)}',
    'controllerruntime.Options{Logger: log.FromContext(ctx), ' +
      'Metrics: metricsserver.Options{BindAddress: "0"}}',
  ],
  ['import (\n', 'import (\n\tmetricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"\n'],
];

const fewer = (count: string): string => String(Math.floor(Number(count) / PERFORMANCE_DIVISOR));

/** Behind what the performance suite has numbers of pods. */
const BEFORE_COUNTS = [
  'CreateDeploymentOptions\\("[^"]*", ',
  'Report\\w+\\(env, "[^"]*", ',
  'ReportConsolidationWithOutput\\(env, "[^"]*", \\d+, ',
  'new\\(int32\\(',
  'BeNumerically\\(">=", -?',
  'EventuallyExpectHealthyPodCount\\(allPodsSelector, ',
];
const COUNTS: Change = [
  new RegExp(`(?<=${BEFORE_COUNTS.join('|')})\\d+|(?<=Equal\\(-?)[1-9]\\d+`, 'g'),
  fewer,
];

/** Its sizes stand in a table. */
const TABLE_COUNTS: Change = [/(?<=^|[\t ])(?:35|30|25|20)(?=,)/gm, fewer];

async function performanceChanges(source: string) {
  const changes: Record<string, readonly Change[]> = {};
  for (const file of await readdir(join(source, PERFORMANCE))) {
    if (!file.endsWith('_test.go') || file === 'suite_test.go') continue;
    const isTable = file.startsWith('wide');
    changes[`${PERFORMANCE}/${file}`] = isTable ? [COUNTS, TABLE_COUNTS] : [COUNTS];
  }
  return changes;
}

/** Cases run one by one: none uses all labels, which the container counts at its end. */
const NO_COUNT_OF_LABELS: readonly Change[] = [
  [/AfterAll\(func\(\) \{[^}]*ContainElements[^}]*\}\)/, () => 'AfterAll(func() {})'],
];

/** What differs in an end-to-end suite of a module. */
export async function endToEndEdits(
  module: Module,
  source: string,
  folder: string,
): Promise<Edits> {
  return {
    changes: {
      [ENVIRONMENT]: [
        [
          /SetDefaultEventuallyTimeout\(\d+ \* time\.Minute\)/,
          () => `SetDefaultEventuallyTimeout(${EVENTUALLY_MINUTES} * time.Minute)`,
        ],
      ],
      [EXPECTATIONS]: NO_DEPLOYMENT,
      ...(module === AWS ? { [AWS_EXPECTATIONS]: WARNINGS } : {}),
      ...(folder === SCHEDULING ? { [`${SCHEDULED}/scheduling.go`]: NO_COUNT_OF_LABELS } : {}),
      ...(folder === REGRESSION ? { [`${REGRESSION}/chaos_test.go`]: NO_PORT } : {}),
      ...(folder === PERFORMANCE ? await performanceChanges(source) : {}),
    },
    files: {},
  };
}
