/** A kubeconfig whose API server does not answer. */
export const CONFIG = `apiVersion: v1
kind: Config
current-context: here
contexts:
  - name: here
    context: { cluster: here, user: me }
clusters:
  - name: here
    cluster: { server: 'https://127.0.0.1:1' }
users:
  - name: me
    user: { token: secret }
`;
