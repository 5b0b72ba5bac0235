// Where the dashboard starts.
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { ProblemError } from './api/client';
import { App } from './app';
import { SpeechProvider } from './i18n/i18n';
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

applyTheme(storedTheme());

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      refetchOnWindowFocus: false,
      // A refusal stays a refusal; a server that is restarting comes back.
      retry: (count, error) => !(error instanceof ProblemError) && count < 3,
    },
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
