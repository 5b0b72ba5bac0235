// Where the dashboard starts.
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { ProblemError } from './api/client';
import { App } from './app';
import { SpeechProvider } from './i18n/i18n';
import { isGone } from './state/connection';
import { useHashPath } from './state/location';
import { applyTheme, storedTheme } from './state/theme';
import './styles/tokens.css';
import './styles/base.css';
import './styles/layout.css';
import './styles/controls.css';
import './styles/forms.css';
import './styles/chart.css';
import './styles/table.css';
import './styles/model.css';
import './styles/validation.css';
import './styles/explain.css';
import './styles/best.css';
import './styles/revise.css';
import './styles/screen.css';
import './styles/signs.css';

applyTheme(storedTheme());

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      refetchOnWindowFocus: false,
      // The server is mostly on this machine: whether the network is there says nothing.
      networkMode: 'always',
      // A refusal stays a refusal; a server that is gone is waited for, and the page says so meanwhile.
      retry: (count, error) => !(error instanceof ProblemError) && (isGone() || count < 3),
      retryDelay: 1000,
    },
    mutations: { networkMode: 'always' },
  },
});

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no element #root');
createRoot(root).render(
  <QueryClientProvider client={queries}>
    <SpeechProvider>
      <Router hook={useHashPath}>
        <App />
      </Router>
    </SpeechProvider>
  </QueryClientProvider>,
);
