CREATE TABLE "app_error_networks" (
	"app" text NOT NULL,
	"network" text NOT NULL,
	"day" text NOT NULL,
	"version" bigint NOT NULL,
	"hash" text NOT NULL,
	CONSTRAINT "app_error_networks_app_network_day_version_hash_pk" PRIMARY KEY("app","network","day","version","hash")
);
--> statement-breakpoint
CREATE TABLE "app_errors" (
	"app" text NOT NULL,
	"version" bigint NOT NULL,
	"hash" text NOT NULL,
	"browser" text NOT NULL,
	"kind" text NOT NULL,
	"text" text NOT NULL,
	"file" text NOT NULL,
	"line" bigint NOT NULL,
	"column" bigint NOT NULL,
	"count" bigint NOT NULL,
	"first" bigint NOT NULL,
	"last" bigint NOT NULL,
	"shown" bigint,
	CONSTRAINT "app_errors_app_version_hash_browser_pk" PRIMARY KEY("app","version","hash","browser")
);
--> statement-breakpoint
ALTER TABLE "apps" ADD COLUMN "live" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "app_error_networks_hash" ON "app_error_networks" USING btree ("app","version","hash");--> statement-breakpoint
CREATE INDEX "app_error_networks_day" ON "app_error_networks" USING btree ("day");--> statement-breakpoint
CREATE INDEX "app_errors_last" ON "app_errors" USING btree ("last");