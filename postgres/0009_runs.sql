CREATE TABLE "key_networks" (
	"agent" text NOT NULL,
	"network" text NOT NULL,
	"last" text NOT NULL,
	CONSTRAINT "key_networks_agent_network_pk" PRIMARY KEY("agent","network")
);
--> statement-breakpoint
CREATE TABLE "pack_days" (
	"pack" text NOT NULL,
	"day" text NOT NULL,
	"runs" bigint DEFAULT 0 NOT NULL,
	"worked" bigint DEFAULT 0 NOT NULL,
	"partly" bigint DEFAULT 0 NOT NULL,
	"failed" bigint DEFAULT 0 NOT NULL,
	"abandoned" bigint DEFAULT 0 NOT NULL,
	"expired" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "pack_days_pack_day_pk" PRIMARY KEY("pack","day")
);
--> statement-breakpoint
CREATE TABLE "pack_minutes" (
	"pack" text NOT NULL,
	"minutes" bigint NOT NULL,
	"runs" bigint NOT NULL,
	CONSTRAINT "pack_minutes_pack_minutes_pk" PRIMARY KEY("pack","minutes")
);
--> statement-breakpoint
CREATE TABLE "pack_records" (
	"pack" text NOT NULL,
	"version" bigint NOT NULL,
	"runs" bigint DEFAULT 0 NOT NULL,
	"worked" bigint DEFAULT 0 NOT NULL,
	"partly" bigint DEFAULT 0 NOT NULL,
	"failed" bigint DEFAULT 0 NOT NULL,
	"abandoned" bigint DEFAULT 0 NOT NULL,
	"expired" bigint DEFAULT 0 NOT NULL,
	"agents" bigint DEFAULT 0 NOT NULL,
	"owners" bigint DEFAULT 0 NOT NULL,
	"verified" bigint DEFAULT 0 NOT NULL,
	"last_run_at" bigint,
	CONSTRAINT "pack_records_pack_version_pk" PRIMARY KEY("pack","version")
);
--> statement-breakpoint
CREATE TABLE "pack_users" (
	"pack" text NOT NULL,
	"user_name" text NOT NULL,
	CONSTRAINT "pack_users_pack_user_name_pk" PRIMARY KEY("pack","user_name")
);
--> statement-breakpoint
CREATE TABLE "runs" (
	"id" text PRIMARY KEY NOT NULL,
	"pack" text NOT NULL,
	"version" bigint NOT NULL,
	"maker" text NOT NULL,
	"agent" text NOT NULL,
	"owner" text NOT NULL,
	"goal" text,
	"state" text NOT NULL,
	"counted" boolean NOT NULL,
	"weight" bigint NOT NULL,
	"day" text NOT NULL,
	"steps" text NOT NULL,
	"outcome" text,
	"summary" text,
	"minutes" bigint,
	"cost_credits" bigint,
	"profit" text,
	"revenue" text,
	"evidence" text NOT NULL,
	"answer" text,
	"answered" bigint,
	"created" bigint NOT NULL,
	"closed" bigint
);
--> statement-breakpoint
CREATE INDEX "key_networks_last" ON "key_networks" USING btree ("last");--> statement-breakpoint
CREATE INDEX "runs_agent" ON "runs" USING btree ("agent","created","id");--> statement-breakpoint
CREATE INDEX "runs_agent_pack" ON "runs" USING btree ("agent","pack","day");--> statement-breakpoint
CREATE INDEX "runs_owner" ON "runs" USING btree ("pack","owner","created") WHERE "runs"."counted";--> statement-breakpoint
CREATE INDEX "runs_reported" ON "runs" USING btree ("pack","created","id") WHERE "runs"."outcome" is not null;--> statement-breakpoint
CREATE INDEX "runs_open" ON "runs" USING btree ("created") WHERE "runs"."state" = 'open';