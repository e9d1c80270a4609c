# The operator's image, for people with Docker: docker build -t graphwright:dev .
# "make image" builds the same without Docker.

FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY build.ts tsconfig.json ./
COPY src ./src
RUN node build.ts

FROM node:24-bookworm-slim
COPY --from=build /build/dist /app
WORKDIR /app
ENV NODE_ENV=production
USER 65532:65532
ENTRYPOINT ["node", "/app/graphwright.cjs"]
