# The operator's image, for people with Docker: docker build -t graphwright:dev .
# For several architectures at once: docker buildx build --platform linux/amd64,linux/arm64 --tag … --push .
# "make image" builds the same without Docker.

# The programs are the same everywhere: they are made by the machine that builds.
FROM --platform=$BUILDPLATFORM node:24.21.0-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY build.ts tsconfig.json ./
COPY src ./src
RUN node build.ts

FROM node:24.21.0-bookworm-slim
COPY --from=build /build/dist /app
WORKDIR /app
ENV NODE_ENV=production
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/node", "/app/graphwright.cjs"]
