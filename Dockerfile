# The service of `spacy lexner serve`. Build: docker build -t spacy-lexner . Run: compose.yaml says how.
FROM python:3.13-slim AS build
WORKDIR /source
COPY . .
# torch without CUDA; for a GPU, build with --build-arg TORCH_INDEX=https://pypi.org/simple
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
RUN python -m venv /venv \
 && /venv/bin/pip install --no-cache-dir --extra-index-url "$TORCH_INDEX" -c constraints.txt ".[serve,zh]"

FROM python:3.13-slim
COPY --from=build /venv /venv
RUN useradd --system --uid 10001 --no-create-home lexner \
 && install -d -o lexner -m 0700 /state
ENV PATH=/venv/bin:$PATH HOME=/tmp OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
USER lexner
EXPOSE 8080
VOLUME /state
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/ready', timeout=4)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["python", "-m", "spacy", "lexner", "serve"]
CMD ["/model", "--host", "0.0.0.0", "--state", "/state", "--token-file", "/run/secrets/lexner_token"]
