# The compiled binary alone, on a small base, as nobody special. `docker build -t berth .`, then
# `docker run -p 3000:3000 -v berth:/data berth`.
FROM oven/bun:1.4.5 AS build
WORKDIR /src
COPY package.json bun.lock ./
RUN bun install --frozen-lockfile
COPY . .
RUN ./scripts/build && mkdir /data

FROM debian:12-slim
COPY --from=build /src/dist/berth /usr/local/bin/berth
COPY --from=build --chown=65532:65532 /data /data
ENV HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
USER 65532:65532
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD ["berth", "health"]
ENTRYPOINT ["berth"]
CMD ["serve"]
