CREATE TABLE "follows" (
	"person" text NOT NULL,
	"maker" text NOT NULL,
	"created" bigint NOT NULL,
	"seen" bigint NOT NULL,
	CONSTRAINT "follows_person_maker_pk" PRIMARY KEY("person","maker")
);
--> statement-breakpoint
CREATE INDEX "follows_maker" ON "follows" USING btree ("maker");