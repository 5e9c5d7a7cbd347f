CREATE TABLE "consents" (
	"app" text NOT NULL,
	"person" text NOT NULL,
	"uses" text NOT NULL,
	"daily_cap" bigint NOT NULL,
	"remembered" boolean NOT NULL,
	"at" bigint NOT NULL,
	CONSTRAINT "consents_app_person_pk" PRIMARY KEY("app","person")
);
--> statement-breakpoint
ALTER TABLE "versions" ADD COLUMN "uses" text;--> statement-breakpoint
CREATE INDEX "consents_person" ON "consents" USING btree ("person","at");