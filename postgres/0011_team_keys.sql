CREATE TABLE "projects" (
	"id" text PRIMARY KEY NOT NULL,
	"owner" text NOT NULL,
	"name" text NOT NULL,
	"daily_cap" bigint,
	"weekly_cap" bigint,
	"monthly_cap" bigint,
	"created" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "expires" bigint;--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "note" text;--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "tags" text;--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "models" text;--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "weekly_cap" bigint;--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "monthly_cap" bigint;--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "requests_per_minute" bigint;--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "tokens_per_minute" bigint;--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "project" text;--> statement-breakpoint
ALTER TABLE "holds" ADD COLUMN "cap_group" text;--> statement-breakpoint
CREATE UNIQUE INDEX "projects_name" ON "projects" USING btree ("owner","name");