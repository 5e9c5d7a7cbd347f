CREATE TABLE "alerts" (
	"name" text PRIMARY KEY NOT NULL,
	"text" text NOT NULL,
	"since" bigint NOT NULL,
	"seen" bigint NOT NULL,
	"resolved" bigint,
	"is_sent" boolean NOT NULL,
	"tries" bigint NOT NULL,
	"problem" text
);
--> statement-breakpoint
CREATE INDEX "caps_day" ON "caps" USING btree ("day");--> statement-breakpoint
CREATE INDEX "use_counts_day" ON "use_counts" USING btree ("day");