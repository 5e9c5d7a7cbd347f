CREATE TABLE "leases" (
	"name" text PRIMARY KEY NOT NULL,
	"process" text NOT NULL,
	"until" bigint NOT NULL
);
--> statement-breakpoint
CREATE UNLOGGED TABLE "limit_windows" (
	"name" text PRIMARY KEY NOT NULL,
	"window_ms" bigint NOT NULL,
	"start" bigint NOT NULL,
	"now" bigint NOT NULL,
	"before" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "replicas" (
	"id" text PRIMARY KEY NOT NULL,
	"folder" text NOT NULL,
	"version" text NOT NULL,
	"since" bigint NOT NULL,
	"seen" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "shared_values" (
	"name" text PRIMARY KEY NOT NULL,
	"value" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "answers" ADD COLUMN "process" text;--> statement-breakpoint
ALTER TABLE "holds" ADD COLUMN "caller" text;--> statement-breakpoint
CREATE INDEX "holds_caller" ON "holds" USING btree ("caller") WHERE "holds"."state" = 'held' and "holds"."caller" is not null;