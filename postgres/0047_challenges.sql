CREATE TABLE "app_challenges" (
	"app" text NOT NULL,
	"id" text NOT NULL,
	"player" text NOT NULL,
	"board" text NOT NULL,
	"lowest" boolean NOT NULL,
	"seed" bigint NOT NULL,
	"score" double precision NOT NULL,
	"created" bigint NOT NULL,
	"best" double precision,
	"best_player" text,
	"best_at" bigint,
	CONSTRAINT "app_challenges_app_id_pk" PRIMARY KEY("app","id")
);
--> statement-breakpoint
CREATE INDEX "app_challenges_player" ON "app_challenges" USING btree ("app","player","created");--> statement-breakpoint
CREATE INDEX "app_challenges_created" ON "app_challenges" USING btree ("created");